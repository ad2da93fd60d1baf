//! Names from files in messages, which are one line each.

/// The text with its control characters escaped: names in an ELF file or a board may have any characters.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { line.extend(char.escape_default()) } else { line.push(char) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn control_characters_are_escaped_and_all_else_is_kept() {
        assert_eq!(one_line("a\n\tb\u{1b}[1m é"), "a\\n\\tb\\u{1b}[1m é");
    }
}
