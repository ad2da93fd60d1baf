//! `#[derive(Polled)]`: the list of a model's state for skipped polling loops, from its fields.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, Ident, Lit, Meta, Path, Token};

/// What a field is to a polling loop.
enum Role {
    /// State that has to be the same an iteration later.
    State,
    /// The time at which something ends that the firmware started.
    End,
    /// A total, which may grow by the same number each iteration.
    Total,
    /// A deadline independent of the loop.
    Until,
    /// A clock on whose edges the accesses happen.
    Phase,
    /// The number of an edge of a clock: the expression, in terms of `self`, gives its rate.
    Edge(Expr),
    /// No state: from the board, or for a reason that is given.
    Skipped,
}

const KNOWN: &str = "`end`, `total`, `until`, `phase`, `edge = RATE` or `skip = \"why\"`";

fn metas(attributes: &[Attribute], name: &str) -> syn::Result<Vec<Meta>> {
    let mut all = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        all.extend(attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?);
    }
    Ok(all)
}

fn role(field: &Field) -> syn::Result<Role> {
    let is_skipped = metas(&field.attrs, "state")?.iter().any(|meta| meta.path().is_ident("skip"));
    let from_board = is_skipped || crate::is_no_state(&field.ty);
    let mut role = if from_board { Role::Skipped } else { Role::State };
    for meta in metas(&field.attrs, "poll")? {
        role = match &meta {
            Meta::Path(path) if path.is_ident("end") => Role::End,
            Meta::Path(path) if path.is_ident("total") => Role::Total,
            Meta::Path(path) if path.is_ident("until") => Role::Until,
            Meta::Path(path) if path.is_ident("phase") => Role::Phase,
            Meta::NameValue(pair) if pair.path.is_ident("edge") => Role::Edge(pair.value.clone()),
            Meta::NameValue(pair) if pair.path.is_ident("skip") && is_reason(&pair.value) => Role::Skipped,
            _ => return Err(syn::Error::new_spanned(meta, KNOWN)),
        };
    }
    Ok(role)
}

/// True for a text that says something.
fn is_reason(value: &Expr) -> bool {
    matches!(value, Expr::Lit(text) if matches!(&text.lit, Lit::Str(text) if !text.value().trim().is_empty()))
}

/// What the attributes of the type itself say.
#[derive(Default)]
struct OfType {
    /// A method that is called before the fields are listed; it may list deadlines, and refuse.
    first: Option<Path>,
    /// No loop with the device is skipped.
    never: bool,
}

fn of_type(input: &DeriveInput) -> syn::Result<OfType> {
    let mut found = OfType::default();
    for meta in metas(&input.attrs, "poll")? {
        match &meta {
            Meta::NameValue(pair) if pair.path.is_ident("first") => {
                let value = &pair.value;
                found.first = Some(syn::parse2(quote!(#value))?);
            }
            Meta::NameValue(pair) if pair.path.is_ident("never") && is_reason(&pair.value) => found.never = true,
            _ => return Err(syn::Error::new_spanned(meta, "`first = METHOD` or `never = \"why\"`")),
        }
    }
    Ok(found)
}

/// Lists fields that are bound to `bound`, and the rates that their clocks have.
fn listed(fields: &Fields, bound: &[Ident]) -> syn::Result<(TokenStream, TokenStream)> {
    let (mut rates, mut lists) = (TokenStream::new(), TokenStream::new());
    for (field, bound) in fields.iter().zip(bound) {
        lists.extend(match role(field)? {
            Role::State => quote!(is_known &= ::engine::polling::Polled::polled(#bound, poll);),
            Role::End => quote!(::engine::polling::End::end(#bound, poll);),
            Role::Total => quote!(::engine::polling::Total::total(#bound, poll);),
            Role::Until => quote!(::engine::polling::Until::until(#bound, poll);),
            Role::Phase => quote!(::engine::polling::Phase::phase(#bound, poll);),
            Role::Edge(rate) => {
                let name = format_ident!("rate_of_{bound}");
                rates.extend(quote!(let #name = #rate;));
                quote!(::engine::polling::Edge::edge(#bound, #name, poll);)
            }
            Role::Skipped => TokenStream::new(),
        });
    }
    Ok((rates, lists))
}

/// A pattern for all fields, and the names that it binds.
fn pattern(fields: &Fields) -> (TokenStream, Vec<Ident>) {
    let names: Vec<Ident> = (0..fields.len()).map(|index| format_ident!("field_{index}")).collect();
    let members = fields.members();
    (quote!({ #(#members: #names,)* }), names)
}

/// The implementation of `Polled`.
pub fn polled_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let OfType { first, never } = of_type(input)?;
    let lists = match &input.data {
        Data::Struct(data) => {
            let (pattern, names) = pattern(&data.fields);
            let (rates, lists) = listed(&data.fields, &names)?;
            quote!(#rates let Self #pattern = self; #lists)
        }
        Data::Enum(data) => {
            let mut arms = TokenStream::new();
            for (index, variant) in data.variants.iter().enumerate() {
                let (pattern, names) = pattern(&variant.fields);
                let (rates, lists) = listed(&variant.fields, &names)?;
                if !rates.is_empty() {
                    return Err(syn::Error::new_spanned(variant, "edges are fields of structs"));
                }
                let (ident, index) = (&variant.ident, index as u64);
                arms.extend(quote!(Self::#ident #pattern => { poll.state(#index); #lists }));
            }
            quote!(match self { #arms })
        }
        Data::Union(_) => return Err(syn::Error::new_spanned(name, "a union can't be listed")),
    };
    let first = first.map(|first| quote!(if !#first(self, poll) { return false; }));
    let body = if never { quote!(false) } else { quote!(#first let mut is_known = true; #lists is_known) };
    let mut generics = input.generics.clone();
    for parameter in input.generics.type_params() {
        let name = &parameter.ident;
        generics.make_where_clause().predicates.push(syn::parse_quote!(#name: ::engine::polling::Polled));
    }
    let (generics, types, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[allow(clippy::all, clippy::pedantic, unused_variables, unused_mut)]
        impl #generics ::engine::polling::Polled for #name #types #bounds {
            fn polled(&mut self, poll: &mut ::engine::polling::Poll) -> bool { #body }
        }
    })
}
