//! `registers!`: a data sheet's register map, as constants and a table. `registers.rs` of the devices has its grammar.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitChar, LitInt, LitStr, Token, Visibility, braced, bracketed, token};

/// A map, or several.
pub struct Maps(Vec<Map>);

struct Map {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    /// What the names of all registers begin with.
    prefix: String,
    /// True for a chip with byte registers, one at each address.
    has_bytes: bool,
    rows: Vec<Row>,
}

struct Row {
    attributes: Vec<Attribute>,
    name: Ident,
    /// The name in the data sheet, where it is not that of the constant; `{}` stands for the number.
    shown: Option<LitStr>,
    /// Numbers of the first register and of the one after the last, and the bytes from one to the next. The numbers of
    /// registers with letters are those of the characters.
    repeated: Option<(u32, u32, TokenStream)>,
    /// True if registers have letters, and no numbers.
    has_letters: bool,
    offset: TokenStream,
    access: Ident,
    rule: Rule,
    reset: Option<TokenStream>,
    mask: Option<TokenStream>,
    bits: Vec<Bit>,
}

enum Rule {
    Plain,
    Once,
    Volatile,
    LockedBy(TokenStream, TokenStream),
    Keyed(TokenStream, TokenStream),
    Sets(TokenStream, bool),
    Clears(TokenStream, bool),
    /// Ones set bits; ones in the next register clear them.
    Pair,
}

struct Bit {
    attributes: Vec<Attribute>,
    name: Ident,
    first: u32,
    end: u32,
    access: Option<Ident>,
    is_modelled: bool,
}

impl Parse for Maps {
    fn parse(input: ParseStream) -> syn::Result<Maps> {
        let mut maps = Vec::new();
        while !input.is_empty() {
            maps.push(input.parse()?);
        }
        Ok(Maps(maps))
    }
}

impl Parse for Map {
    fn parse(input: ParseStream) -> syn::Result<Map> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![const]>()?;
        let name = input.parse()?;
        let prefix = input.parse::<LitStr>()?.value();
        let has_bytes = word(input, "bytes")?;
        let inner;
        braced!(inner in input);
        let mut rows = Vec::new();
        while !inner.is_empty() {
            rows.push(inner.parse()?);
        }
        Ok(Map { attributes, visibility, name, prefix, has_bytes, rows })
    }
}

/// Takes a word if it comes next.
fn word(input: ParseStream, expected: &str) -> syn::Result<bool> {
    let is_next = input.fork().parse::<Ident>().is_ok_and(|word| word == expected);
    if is_next {
        input.parse::<Ident>()?;
    }
    Ok(is_next)
}

/// Words of the grammar, which end a value.
const WORDS: &[&str] = &[
    "ro",
    "wo",
    "rw",
    "w1c",
    "w0c",
    "w1t",
    "w1s",
    "rc",
    "set",
    "clear",
    "set_of",
    "clear_of",
    "pair",
    "volatile",
    "once",
    "locked_by",
    "keyed",
    "reset",
    "mask",
];

/// The expression of a constant, up to a word of the grammar or a sign.
fn value(input: ParseStream) -> syn::Result<TokenStream> {
    let mut value = TokenStream::new();
    while !input.is_empty() && !input.peek(token::Brace) && !input.peek(Token![;]) && !input.peek(Token![in]) {
        if input.fork().parse::<Ident>().is_ok_and(|word| WORDS.iter().any(|known| word == known)) {
            break;
        }
        value.extend([input.parse::<TokenTree>()?]);
    }
    if value.is_empty() { Err(input.error("a value")) } else { Ok(value) }
}

fn number(input: ParseStream) -> syn::Result<u32> {
    input.parse::<LitInt>()?.base10_parse()
}

impl Parse for Row {
    fn parse(input: ParseStream) -> syn::Result<Row> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        let shown = input.peek(LitStr).then(|| input.parse()).transpose()?;
        let mut has_letters = false;
        let repeated = input.peek(token::Bracket).then(|| repetition(input, &mut has_letters)).transpose()?;
        let offset = value(input)?;
        let (access, rule) = access_of_row(input)?;
        let (reset, mask, bits) = (None, None, Vec::new());
        let mut row = Row { attributes, name, shown, repeated, has_letters, offset, access, rule, reset, mask, bits };
        row.take_options(input)?;
        if input.peek(token::Brace) {
            let inner;
            braced!(inner in input);
            row.bits = inner.parse_terminated(Bit::parse, Token![,])?.into_iter().collect();
        }
        input.parse::<Token![;]>()?;
        Ok(row)
    }
}

impl Row {
    fn take_options(&mut self, input: ParseStream) -> syn::Result<()> {
        while input.peek(syn::Ident) {
            if word(input, "volatile")? {
                self.rule = Rule::Volatile;
            } else if word(input, "once")? {
                self.rule = Rule::Once;
            } else if word(input, "locked_by")? {
                let bits = value(input)?;
                input.parse::<Token![in]>()?;
                self.rule = Rule::LockedBy(value(input)?, bits);
            } else if word(input, "keyed")? {
                let key = value(input)?;
                input.parse::<Token![in]>()?;
                self.rule = Rule::Keyed(value(input)?, key);
            } else if word(input, "reset")? {
                self.reset = Some(value(input)?);
            } else if word(input, "mask")? {
                self.mask = Some(value(input)?);
            } else {
                return Err(
                    input.error("`volatile`, `once`, `locked_by`, `keyed`, `reset`, `mask`, bits in braces, or `;`")
                );
            }
        }
        Ok(())
    }
}

/// `[FIRST..END; STEP]`, of numbers or of letters.
fn repetition(input: ParseStream, has_letters: &mut bool) -> syn::Result<(u32, u32, TokenStream)> {
    let inner;
    bracketed!(inner in input);
    *has_letters = inner.peek(LitChar);
    let take = if *has_letters { |input: ParseStream| Ok(input.parse::<LitChar>()?.value().into()) } else { number };
    let first = take(&inner)?;
    inner.parse::<Token![..]>()?;
    let end = take(&inner)?;
    inner.parse::<Token![;]>()?;
    Ok((first, end, inner.parse()?))
}

fn access_of_row(input: ParseStream) -> syn::Result<(Ident, Rule)> {
    let word: Ident = input.parse()?;
    let is_read = word == "set_of" || word == "clear_of";
    let access = || Ident::new(if is_read { "Rw" } else { "Wo" }, word.span());
    if word == "set" || word == "set_of" {
        return Ok((access(), Rule::Sets(value(input)?, is_read)));
    }
    if word == "pair" {
        return Ok((Ident::new("Rw", word.span()), Rule::Pair));
    }
    if word == "clear" || word == "clear_of" {
        return Ok((access(), Rule::Clears(value(input)?, is_read)));
    }
    Ok((access_of(&word)?, Rule::Plain))
}

fn access_of(word: &Ident) -> syn::Result<Ident> {
    let kind = match word.to_string().as_str() {
        "ro" => "Ro",
        "wo" => "Wo",
        "rw" => "Rw",
        "w1c" => "W1c",
        "w0c" => "W0c",
        "w1t" => "W1t",
        "w1s" => "W1s",
        "rc" => "Rc",
        _ => {
            return Err(syn::Error::new(
                word.span(),
                "ro, wo, rw, w1c, w0c, w1t, w1s, rc, set, clear, set_of, clear_of or pair",
            ));
        }
    };
    Ok(Ident::new(kind, word.span()))
}

impl Parse for Bit {
    fn parse(input: ParseStream) -> syn::Result<Bit> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name: Ident = input.parse()?;
        let first = number(input)?;
        let end = if input.parse::<Option<Token![..]>>()?.is_some() { number(input)? } else { first + 1 };
        if first >= end || end > 32 {
            return Err(syn::Error::new(name.span(), "bits are 0 to 31"));
        }
        let mut bit = Bit { attributes, name, first, end, access: None, is_modelled: true };
        while input.peek(syn::Ident) {
            if word(input, "unmodelled")? {
                bit.is_modelled = false;
            } else {
                bit.access = Some(access_of(&input.parse()?)?);
            }
        }
        Ok(bit)
    }
}

impl Bit {
    fn mask(&self) -> u32 {
        (u32::MAX >> (32 - (self.end - self.first))) << self.first
    }
}

/// A number as people write masks.
fn hexadecimal(number: u32) -> LitInt {
    LitInt::new(&format!("{number:#x}"), Span::call_site())
}

impl Map {
    fn expanded(&self) -> TokenStream {
        let Map { attributes, visibility, name, has_bytes, .. } = self;
        let rows: Vec<TokenStream> = self.rows.iter().flat_map(|row| self.rows_of(row)).collect();
        let constants = self.rows.iter().map(|row| self.constants_of(row));
        let pairs = self.rows.iter().filter(|row| matches!(row.rule, Rule::Pair));
        let clearing: usize = pairs.map(|row| self.rows_of(row).len()).sum();
        let (count, unit) = (rows.len() + clearing, if *has_bytes { 1_u32 } else { 4 });
        quote! {
            #(#attributes)*
            #visibility const #name: ::devices::registers::Map = {
                use ::devices::registers::{Access, Bit, Row, Rule};
                const ROWS: [Row; #count] = ::devices::registers::sorted(&[&[#(#rows),*]]);
                const UNITS: usize = ::devices::registers::units(&ROWS, #unit);
                const INDEX: [u16; UNITS] = ::devices::registers::index_of(&ROWS, #unit);
                ::devices::registers::Map::new(&ROWS, &INDEX, #unit)
            };
            #(#constants)*
        }
    }

    /// The offset of a register, and the masks of its bits.
    fn constants_of(&self, row: &Row) -> TokenStream {
        let (visibility, Row { attributes, name, offset, .. }) = (&self.visibility, row);
        let bits = row.bits.iter().map(|bit| {
            let (attributes, name, mask) =
                (&bit.attributes, format_ident!("{name}_{}", bit.name), hexadecimal(bit.mask()));
            quote! {
                #(#attributes)*
                #[allow(dead_code, missing_docs, non_upper_case_globals)]
                #visibility const #name: u32 = #mask;
            }
        });
        quote!(#(#attributes)* #[allow(dead_code, missing_docs)] #visibility const #name: u32 = #offset; #(#bits)*)
    }

    fn rows_of(&self, row: &Row) -> Vec<TokenStream> {
        let (first, end, step) = match &row.repeated {
            Some((first, end, step)) => (*first, *end, quote!(#step)),
            None => (0, 1, quote!(0)),
        };
        (first..end).map(|number| self.row(row, number, &quote!((#number - #first) * (#step)))).collect()
    }

    /// The row of a register, and of the one that clears its bits if it has one.
    fn row(&self, row: &Row, number: u32, further: &TokenStream) -> TokenStream {
        let text = self.name_of(row, number);
        let name = &row.name;
        let clearing = matches!(row.rule, Rule::Pair).then(|| {
            let (text, mask) = (text.replace("SET", "CLR"), row.mask.clone().unwrap_or_else(|| quote!(u32::MAX)));
            quote!(, Row::with_bits(#text, #name + #further + 4, Access::Rw, 0, #mask,
                Rule::Clears(#name + #further, true), &[]))
        });
        let Row { name, access, reset, .. } = row;
        let all = if self.has_bytes { 0xff } else { u32::MAX };
        let listed = row.bits.iter().fold(0, |mask, bit| mask | bit.mask());
        let mask = match &row.mask {
            Some(mask) => quote!(#mask),
            None => hexadecimal(if row.bits.is_empty() { all } else { listed }).into_token_stream(),
        };
        let reset = reset.as_ref().map_or(quote!(0), |reset| quote!(#reset));
        let rule = match &row.rule {
            Rule::Plain => quote!(Rule::Plain),
            Rule::Once => quote!(Rule::Once),
            Rule::Volatile => quote!(Rule::Volatile),
            Rule::LockedBy(by, bits) => quote!(Rule::LockedBy(#by, #bits)),
            Rule::Keyed(mask, key) => quote!(Rule::Keyed(#mask, #key)),
            Rule::Sets(of, read) => quote!(Rule::Sets(#of + #further, #read)),
            Rule::Clears(of, read) => quote!(Rule::Clears(#of + #further, #read)),
            Rule::Pair => quote!(Rule::Sets(#name + #further, true)),
        };
        let bits = row.bits.iter().map(|bit| {
            let (text, mask, is_modelled) = (bit.name.to_string(), hexadecimal(bit.mask()), bit.is_modelled);
            let access = bit.access.as_ref().unwrap_or(access);
            quote!(Bit { name: #text, mask: #mask, access: Access::#access, is_modelled: #is_modelled })
        });
        quote!(Row::with_bits(#text, #name + #further, Access::#access, #reset, #mask, #rule, &[#(#bits),*]) #clearing)
    }

    fn name_of(&self, row: &Row, number: u32) -> String {
        let plain = row.name.to_string();
        let letter = char::from_u32(number).filter(|_| row.has_letters);
        let number = letter.map_or_else(|| number.to_string(), String::from);
        let own = match (&row.shown, &row.repeated) {
            (Some(shown), _) => shown.value().replace("{}", &number),
            (None, Some(_)) => format!("{plain}{number}"),
            (None, None) => plain,
        };
        format!("{}{own}", self.prefix)
    }
}

/// Constants and tables of the maps.
pub fn expanded(maps: &Maps) -> TokenStream {
    maps.0.iter().map(Map::expanded).collect()
}
