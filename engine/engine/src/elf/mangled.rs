//! Checks in one pass whether a symbol is well-formed by the grammar of C++'s mangled names (Itanium C++ ABI, section
//! 5.1).
//!
//! Demanglers try one alternative after the other and start again where one fails: for an invalid name that can take
//! for ever. A name that this grammar accepts is read at the first try.

/// Maximum nesting. Of 47,000 symbols of C++'s and other libraries, two are deeper.
const MOST_DEPTH: u32 = 40;

/// A name, and the position in it.
struct Reading<'a> {
    rest: &'a [u8],
    depth: u32,
}

/// `None` for a syntax error.
type Read = Option<()>;

/// True for a symbol that is a mangled name of C++.
pub fn is_well_formed(symbol: &str) -> bool {
    let symbol = symbol.as_bytes();
    let Some(rest) = symbol.strip_prefix(b"_Z").or_else(|| symbol.strip_prefix(b"__Z")) else { return false };
    let mut reading = Reading { rest, depth: 0 };
    // The name of a copy of a function is the original's with a point and the compiler's suffix.
    reading.encoding().is_some() && matches!(reading.rest.first(), None | Some(b'.'))
}

impl Reading<'_> {
    fn peek(&self) -> u8 {
        self.at(0)
    }

    /// The byte at an offset; 0 after the end.
    fn at(&self, place: usize) -> u8 {
        self.rest.get(place).copied().unwrap_or(0)
    }

    fn skip(&mut self, bytes: usize) -> Read {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn takes(&mut self, text: &[u8]) -> bool {
        let found = self.rest.starts_with(text);
        self.rest = if found { &self.rest[text.len()..] } else { self.rest };
        found
    }

    fn needs(&mut self, text: &[u8]) -> Read {
        self.takes(text).then_some(())
    }

    /// Reads one level deeper.
    fn within(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    /// Reads items up to the byte `end`, which is consumed.
    fn until(&mut self, end: u8, read: impl Fn(&mut Self) -> Read) -> Read {
        while self.peek() != end {
            read(self)?;
        }
        self.skip(1)
    }

    /// An optional decimal number.
    fn number(&mut self) -> usize {
        let digits = self.rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let number = self.rest[..digits].iter();
        let number = number.fold(0_usize, |sum, digit| sum.saturating_mul(10).saturating_add((digit - b'0').into()));
        self.rest = &self.rest[digits..];
        number
    }

    fn signed(&mut self) {
        self.takes(b"n");
        self.number();
    }

    /// `<number> _`, or `_`.
    fn numbered(&mut self) -> Read {
        self.number();
        self.needs(b"_")
    }

    /// A length and a name of that many bytes.
    fn source_name(&mut self) -> Read {
        match self.number() {
            0 => None,
            bytes => self.skip(bytes),
        }
    }

    fn encoding(&mut self) -> Read {
        self.within(|name| match (name.peek(), name.at(1)) {
            (b'T' | b'G', _) => name.special(),
            _ => {
                name.name()?;
                while !matches!(name.peek(), 0 | b'E' | b'.') {
                    name.type_()?;
                }
                Some(())
            }
        })
    }

    fn special(&mut self) -> Read {
        let kind = [self.peek(), self.at(1)];
        self.skip(2)?;
        match &kind {
            b"TV" | b"TT" | b"TI" | b"TS" => self.type_(),
            b"TC" => {
                self.type_()?;
                self.numbered()?;
                self.type_()
            }
            b"Th" | b"Tv" => {
                self.offset(kind[1])?;
                self.encoding()
            }
            b"Tc" => {
                for _ in 0..2 {
                    let offset = self.peek();
                    self.skip(1)?;
                    self.offset(offset)?;
                }
                self.encoding()
            }
            b"GV" | b"TW" | b"TH" => self.name(),
            b"GR" => {
                self.name()?;
                self.sequence()
            }
            b"GA" => self.encoding(),
            b"GT" => {
                let _ = self.takes(b"t") || self.takes(b"n");
                self.encoding()
            }
            _ => None,
        }
    }

    fn offset(&mut self, kind: u8) -> Read {
        self.signed();
        self.needs(b"_")?;
        match kind {
            b'h' => Some(()),
            b'v' => {
                self.signed();
                self.needs(b"_")
            }
            _ => None,
        }
    }

    /// The rest of a substitution or of a temporary's number, after the `S`.
    fn sequence(&mut self) -> Read {
        let digits = self.rest.iter().take_while(|digit| digit.is_ascii_digit() || digit.is_ascii_uppercase()).count();
        self.skip(digits)?;
        self.needs(b"_")
    }

    /// `S_`, `S0_`, `Sa`: true for a substitution, which is consumed. `St` is not one: a name follows.
    fn substitution(&mut self) -> Option<bool> {
        if self.peek() != b'S' {
            return Some(false);
        }
        match self.at(1) {
            b'a' | b'b' | b's' | b'i' | b'o' | b'd' => self.skip(2).map(|()| true),
            b'0'..=b'9' | b'A'..=b'Z' | b'_' => {
                self.skip(1)?;
                self.sequence().map(|()| true)
            }
            _ => Some(false),
        }
    }

    /// `T_`, `T0_`: true for one, which is consumed.
    fn template_parameter(&mut self) -> Option<bool> {
        if self.peek() != b'T' || !(self.at(1) == b'_' || self.at(1).is_ascii_digit()) {
            return Some(false);
        }
        self.skip(1)?;
        self.numbered().map(|()| true)
    }

    fn name(&mut self) -> Read {
        self.within(|name| match name.peek() {
            b'N' => name.nested(),
            b'Z' => name.local(),
            _ => {
                if !name.substitution()? {
                    name.takes(b"St");
                    name.unqualified(false)?;
                } else if name.peek() != b'I' {
                    return None;
                }
                name.template_arguments()
            }
        })
    }

    fn nested(&mut self) -> Read {
        self.skip(1)?;
        self.qualifiers();
        let _ = self.takes(b"R") || self.takes(b"O");
        let before = self.rest.len();
        while !self.takes(b"E") {
            match (self.peek(), self.at(1)) {
                (b'I', _) if self.rest.len() < before => self.template_arguments()?,
                (b'S', b't') => self.skip(2)?,
                // A lambda in an initializer of the member before.
                (b'M', _) => self.skip(1)?,
                (b'D', b't' | b'T') => self.decltype()?,
                _ if self.substitution()? || self.template_parameter()? => {}
                _ => self.unqualified(true)?,
            }
        }
        (self.rest.len() + 1 < before).then_some(())
    }

    fn local(&mut self) -> Read {
        self.skip(1)?;
        self.encoding()?;
        self.needs(b"E")?;
        if self.peek() == b's' {
            self.skip(1)?;
            return self.discriminator();
        }
        if self.takes(b"d") {
            self.numbered()?;
        }
        self.name()?;
        self.discriminator()
    }

    fn discriminator(&mut self) -> Read {
        if self.takes(b"__") {
            return self.numbered();
        }
        match self.peek() {
            b'_' => self.at(1).is_ascii_digit().then(|| self.skip(2))?,
            _ => Some(()),
        }
    }

    /// A name without its scope; only members are constructors, destructors and conversions.
    fn unqualified(&mut self, is_member: bool) -> Read {
        self.within(|name| {
            match (name.peek(), name.at(1)) {
                (b'0'..=b'9', _) => name.source_name()?,
                (b'L', _) => {
                    name.skip(1)?;
                    name.source_name()?;
                }
                (b'C', b'1'..=b'5') | (b'D', b'0'..=b'5') if is_member => name.skip(2)?,
                (b'C', b'I') if is_member => {
                    name.skip(3)?;
                    name.type_()?;
                }
                (b'D', b'C') => {
                    name.skip(2)?;
                    name.until(b'E', Self::source_name)?;
                }
                (b'U', b't') => {
                    name.skip(2)?;
                    name.numbered()?;
                }
                (b'U', b'l') => {
                    name.skip(2)?;
                    name.until(b'E', Self::type_)?;
                    name.numbered()?;
                }
                (b'c', b'v') if !is_member => return None,
                _ => name.operator()?,
            }
            while name.takes(b"B") {
                name.source_name()?;
            }
            Some(())
        })
    }

    /// The name of an operator's function.
    fn operator(&mut self) -> Read {
        let code = [self.peek(), self.at(1)];
        self.skip(2)?;
        match &code {
            b"cv" => self.type_(),
            b"li" => self.source_name(),
            _ if OPERANDS.iter().any(|(known, _)| *known == &code) => Some(()),
            _ => None,
        }
    }

    fn qualifiers(&mut self) {
        while self.takes(b"r") || self.takes(b"V") || self.takes(b"K") {}
    }

    fn template_arguments(&mut self) -> Read {
        if self.takes(b"I") { self.within(|name| name.until(b'E', Self::template_argument)) } else { Some(()) }
    }

    fn template_argument(&mut self) -> Read {
        self.within(|name| match name.peek() {
            b'X' => {
                name.skip(1)?;
                name.expression()?;
                name.needs(b"E")
            }
            b'L' => name.literal(),
            // GCC's own letter for a pack, from before the ABI had one.
            b'J' | b'I' => {
                name.skip(1)?;
                name.until(b'E', Self::template_argument)
            }
            _ => name.type_(),
        })
    }

    /// A number, or the name of a function or object.
    fn literal(&mut self) -> Read {
        self.skip(1)?;
        if self.takes(b"_Z") {
            self.encoding()?;
        } else {
            self.type_()?;
            let value = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f' | b'n'));
            let bytes = value.count();
            self.skip(bytes)?;
        }
        self.needs(b"E")
    }

    fn decltype(&mut self) -> Read {
        self.skip(2)?;
        self.expression()?;
        self.needs(b"E")
    }

    fn type_(&mut self) -> Read {
        self.within(|name| match (name.peek(), name.at(1)) {
            (b'r' | b'V' | b'K' | b'P' | b'R' | b'O', _) | (b'C' | b'G', b'f' | b'd' | b'e') => {
                name.skip(1)?;
                name.type_()
            }
            (b'v' | b'w' | b'b' | b'c' | b'a' | b'h' | b's' | b't' | b'i' | b'j' | b'l' | b'm' | b'x' | b'y', _)
            | (b'n' | b'o' | b'f' | b'd' | b'e' | b'g' | b'z', _) => name.skip(1),
            (b'u', _) => {
                name.skip(1)?;
                name.source_name()
            }
            (b'U', b'0'..=b'9') => {
                name.skip(1)?;
                name.source_name()?;
                name.template_arguments()?;
                name.type_()
            }
            (b'F', _) => name.function(),
            (b'A', _) => name.array(),
            (b'M', _) => {
                name.skip(1)?;
                name.type_()?;
                name.type_()
            }
            (b'D', kind) => name.d_type(kind),
            _ if name.template_parameter()? => name.template_arguments(),
            _ if name.rest.starts_with(b"St") => name.name(),
            _ if name.substitution()? => name.template_arguments(),
            (b'N' | b'Z' | b'0'..=b'9', _) => name.name(),
            _ => None,
        })
    }

    fn function(&mut self) -> Read {
        self.needs(b"F")?;
        self.takes(b"Y");
        self.type_()?;
        while self.peek() != b'E' {
            if matches!(self.peek(), b'R' | b'O') && self.at(1) == b'E' {
                self.skip(1)?;
            } else {
                self.type_()?;
            }
        }
        self.skip(1)
    }

    fn array(&mut self) -> Read {
        self.skip(1)?;
        if !self.peek().is_ascii_digit() && self.peek() != b'_' {
            self.expression()?;
        }
        self.numbered()?;
        self.type_()
    }

    /// A type that begins with a `D`.
    fn d_type(&mut self, kind: u8) -> Read {
        match kind {
            b't' | b'T' => self.decltype(),
            b'd' | b'e' | b'f' | b'h' | b'i' | b's' | b'u' | b'a' | b'c' | b'n' => self.skip(2),
            b'p' => {
                self.skip(2)?;
                self.type_()
            }
            b'o' => {
                self.skip(2)?;
                self.function()
            }
            b'F' => {
                self.skip(2)?;
                self.numbered()
            }
            b'v' => {
                self.skip(2)?;
                self.numbered()?;
                self.type_()
            }
            _ => None,
        }
    }

    fn expression(&mut self) -> Read {
        self.within(Self::expression_here)
    }

    fn expression_here(&mut self) -> Read {
        match (self.peek(), self.at(1)) {
            (b'L', _) => return self.literal(),
            (b'f', b'p' | b'L') => return self.function_parameter(),
            (b'T', _) => return self.template_parameter()?.then_some(()),
            (b'0'..=b'9', _) => {
                self.source_name()?;
                return self.template_arguments();
            }
            _ => {}
        }
        let code = [self.peek(), self.at(1)];
        self.skip(2)?;
        match &code {
            b"cl" | b"il" => self.until(b'E', Self::expression),
            b"tl" => {
                self.type_()?;
                self.until(b'E', Self::expression)
            }
            b"cv" => {
                self.type_()?;
                if self.takes(b"_") { self.until(b'E', Self::expression) } else { self.expression() }
            }
            b"dc" | b"sc" | b"rc" | b"cc" => {
                self.type_()?;
                self.expression()
            }
            b"st" | b"at" | b"ti" => self.type_(),
            b"sr" => {
                self.type_()?;
                self.source_name()?;
                self.template_arguments()
            }
            b"sZ" => match self.peek() {
                b'T' => self.template_parameter()?.then_some(()),
                _ => self.function_parameter(),
            },
            b"tr" => Some(()),
            b"gs" => self.expression(),
            b"nw" | b"na" => {
                self.until(b'_', Self::expression)?;
                self.type_()?;
                let _ = self.takes(b"pi");
                self.until(b'E', Self::expression)
            }
            _ => {
                let (_, operands) = OPERANDS.iter().find(|(known, _)| *known == &code)?;
                (0..*operands).try_for_each(|_| self.expression())
            }
        }
    }

    fn function_parameter(&mut self) -> Read {
        if self.takes(b"fL") {
            self.number();
        } else {
            self.needs(b"f")?;
        }
        self.needs(b"p")?;
        if self.takes(b"T") {
            return Some(());
        }
        self.qualifiers();
        self.numbered()
    }
}

/// The codes of operators, with their numbers of operands in an expression.
const OPERANDS: &[(&[u8; 2], u32)] = &[
    (b"nw", 0),
    (b"na", 0),
    (b"dl", 1),
    (b"da", 1),
    (b"ps", 1),
    (b"ng", 1),
    (b"ad", 1),
    (b"de", 1),
    (b"co", 1),
    (b"pl", 2),
    (b"mi", 2),
    (b"ml", 2),
    (b"dv", 2),
    (b"rm", 2),
    (b"an", 2),
    (b"or", 2),
    (b"eo", 2),
    (b"aS", 2),
    (b"pL", 2),
    (b"mI", 2),
    (b"mL", 2),
    (b"dV", 2),
    (b"rM", 2),
    (b"aN", 2),
    (b"oR", 2),
    (b"eO", 2),
    (b"ls", 2),
    (b"rs", 2),
    (b"lS", 2),
    (b"rS", 2),
    (b"eq", 2),
    (b"ne", 2),
    (b"lt", 2),
    (b"gt", 2),
    (b"le", 2),
    (b"ge", 2),
    (b"ss", 2),
    (b"nt", 1),
    (b"aa", 2),
    (b"oo", 2),
    (b"pp", 1),
    (b"mm", 1),
    (b"cm", 2),
    (b"pm", 2),
    (b"pt", 2),
    (b"cl", 0),
    (b"ix", 2),
    (b"qu", 3),
    (b"sz", 1),
    (b"az", 1),
    (b"te", 1),
    (b"dt", 2),
    (b"ds", 2),
    (b"sp", 1),
    (b"nx", 1),
    (b"tw", 1),
    (b"aw", 1),
];
