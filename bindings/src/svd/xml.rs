//! Limits for an XML file, checked before it is parsed: the parser recurses as deep as the elements nest, compares each
//! attribute of an element with all others, and expands the indices of arrays.

use roxmltree::Document;

/// The deepest nesting of elements: in CMSIS-SVD, 16 clusters and the elements around and within them.
const MOST_DEPTH: usize = 64;
/// The most attributes of an element.
const MOST_ATTRIBUTES: usize = 32;

/// Checks a file's text: its elements must be of bounded depth, and its arrays must have at most `most_indices`
/// indices. Invalid XML is left to the parser.
///
/// # Errors
/// What is wrong, and where.
pub fn check(text: &str, most_indices: u64) -> Result<(), String> {
    check_depth(text)?;
    let Ok(document) = Document::parse(text) else { return Ok(()) };
    let mut indices = 0_u64;
    for node in document.descendants().filter(|node| node.tag_name().name() == "dimIndex") {
        indices = indices.saturating_add(node.text().map_or(0, indices_of));
        if indices > most_indices {
            let line = document.text_pos_at(node.range().start).row;
            return Err(format!("line {line}: its arrays have more than {most_indices} indices"));
        }
    }
    Ok(())
}

/// The number of indices in a text such as "0-7" or "A,B,C".
fn indices_of(text: &str) -> u64 {
    let ends = text.trim().split_once('-').map(|(first, last)| (first.parse::<u32>(), last.parse::<u32>()));
    match ends {
        Some((Ok(first), Ok(last))) => u64::from(last.saturating_sub(first)) + 1,
        _ => text.split(',').count() as u64,
    }
}

fn check_depth(text: &str) -> Result<(), String> {
    let at = |rest: &str| format!("line {}", 1 + text[..text.len() - rest.len()].matches('\n').count());
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(place) = rest.find('<') {
        rest = &rest[place..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("</", ">")];
        let after = match skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((begin, end)) => {
                depth = depth.saturating_sub(usize::from(*begin == "</"));
                rest[begin.len()..].split_once(end).map(|(_, after)| after)
            }
            // Document types are not read: they could refer to anything.
            None if rest.starts_with("<!") => None,
            None => {
                let Some(tag) = Tag::of(rest) else { return Ok(()) };
                if tag.attributes > MOST_ATTRIBUTES {
                    return Err(format!("{}: an element has more than {MOST_ATTRIBUTES} attributes", at(rest)));
                }
                depth += usize::from(!tag.is_empty);
                if depth > MOST_DEPTH {
                    return Err(format!("{}: elements are nested more than {MOST_DEPTH} deep", at(rest)));
                }
                Some(tag.after)
            }
        };
        let Some(after) = after else { return Ok(()) };
        rest = after;
    }
    Ok(())
}

/// The start tag of an element.
struct Tag<'a> {
    attributes: usize,
    is_empty: bool,
    after: &'a str,
}

impl<'a> Tag<'a> {
    fn of(text: &'a str) -> Option<Tag<'a>> {
        let (mut quote, mut attributes, mut before) = (None, 0, 0);
        for (place, byte) in text.bytes().enumerate() {
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => attributes += 1,
                (None, b'>') => return Some(Tag { attributes, is_empty: before == b'/', after: &text[place + 1..] }),
                (None, _) => {}
            }
            before = byte;
        }
        None
    }
}
