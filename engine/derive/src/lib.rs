//! `#[derive(State)]` and `#[derive(Fresh)]`: see `state.rs` of the engine, which has the traits.
//!
//! `#[state(skip)]` before a field says that it is no state: what the board gives, a link to another part of the
//! machine, or something that is worked out anew. It stays as it is when a snapshot is loaded. Interrupt lines, clock
//! gates and scopes need no attribute: their types say so.
//! `#[state(with = module)]` has a field saved and loaded by `module::save(&field, &mut Saver)` and
//! `module::load(&mut field, &mut Loader)`.

mod counters;
mod polled;
mod register_bank;
mod registers;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Data, DeriveInput, Field, Fields, GenericArgument, Ident, Member, Meta, Path, PathArguments, Token, Type,
    parse_macro_input,
};

/// Derives `State`: all fields in their order, under their names.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    state_of(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives `Fresh`: something to load a snapshot into, whatever it is. Not for types with fields that are skipped.
#[proc_macro_derive(Fresh, attributes(state))]
pub fn derive_fresh(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fresh_of(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives `Polled`: all fields in their order; `engine/src/polling/listing.rs` has the attributes.
#[proc_macro_derive(Polled, attributes(poll, state))]
pub fn derive_polled(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    polled::polled_of(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives `counters`: a device's totals for the results, named like the fields, without those of `#[counter(skip)]`.
#[proc_macro_derive(Counters, attributes(counter))]
pub fn derive_counters(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    counters::counters_of(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives `RegisterBank`, with the port of `#[port(EXPRESSION)]`: see `devices/src/registers/table.rs`.
#[proc_macro_derive(RegisterBank, attributes(port, banks))]
pub fn derive_register_bank(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    register_bank::register_bank_of(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Register maps: `devices/src/registers.rs` has the grammar.
#[proc_macro]
pub fn registers(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let maps = parse_macro_input!(input as registers::Maps);
    registers::expanded(&maps).into()
}

/// How a field is saved.
enum How {
    Plain,
    Skipped,
    With(Path),
}

/// Types of what is no state: interrupt lines and clock gates are from the board, and a scope only records.
const NO_STATE: [&str; 3] = ["IrqLine", "ClockGate", "Scope"];

/// True for a field that is no state by its type.
fn is_no_state(kind: &Type) -> bool {
    match kind {
        Type::Array(array) => is_no_state(&array.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| match &last.arguments {
            PathArguments::AngleBracketed(inner) if last.ident == "Option" || last.ident == "Vec" => {
                inner.args.iter().all(|inner| matches!(inner, GenericArgument::Type(inner) if is_no_state(inner)))
            }
            _ => NO_STATE.iter().any(|name| last.ident == name),
        }),
        _ => false,
    }
}

fn how(field: &Field) -> syn::Result<How> {
    let mut how = if is_no_state(&field.ty) { How::Skipped } else { How::Plain };
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("state")) {
        for meta in attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)? {
            how = match &meta {
                Meta::Path(path) if path.is_ident("skip") => How::Skipped,
                Meta::NameValue(pair) if pair.path.is_ident("with") => {
                    let value = &pair.value;
                    How::With(syn::parse2(quote!(#value))?)
                }
                _ => return Err(syn::Error::new_spanned(meta, "`skip` or `with = module`")),
            };
        }
    }
    Ok(how)
}

/// Saves and loads fields that are bound to `bound`.
fn fields_of(fields: &Fields, bound: &[Ident]) -> syn::Result<(TokenStream, TokenStream)> {
    let (mut saves, mut loads) = (TokenStream::new(), TokenStream::new());
    for ((field, member), bound) in fields.iter().zip(fields.members()).zip(bound) {
        let name = name_of(&member);
        match how(field)? {
            How::Plain => {
                saves.extend(quote!(to.field(#name); ::engine::state::State::save(#bound, to);));
                loads.extend(quote!(::engine::state::State::load(#bound, from)?;));
            }
            How::With(module) => {
                saves.extend(quote!(to.field(#name); #module::save(#bound, to);));
                loads.extend(quote!(#module::load(#bound, from)?;));
            }
            How::Skipped => {}
        }
    }
    Ok((saves, loads))
}

fn name_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// A pattern for all fields that binds the saved ones, and the names that it binds; `_`-named ones of the rest.
fn pattern(fields: &Fields) -> syn::Result<(TokenStream, Vec<Ident>)> {
    let (mut pattern, mut names) = (TokenStream::new(), Vec::new());
    for (index, (field, member)) in fields.iter().zip(fields.members()).enumerate() {
        let name = format_ident!("field_{index}");
        let is_skipped = matches!(how(field)?, How::Skipped);
        pattern.extend(if is_skipped { quote!(#member: _,) } else { quote!(#member: #name,) });
        names.push(name);
    }
    Ok((quote!({ #pattern }), names))
}

fn state_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let (saves, loads) = match &input.data {
        Data::Struct(data) => {
            let (pattern, names) = pattern(&data.fields)?;
            let (saves, loads) = fields_of(&data.fields, &names)?;
            let text = name.to_string();
            (
                quote!(let Self #pattern = self; to.begin(#text); #saves to.end();),
                quote!(let Self #pattern = self; #loads),
            )
        }
        Data::Enum(data) => {
            let (mut saves, mut loads) = (TokenStream::new(), TokenStream::new());
            for (index, variant) in data.variants.iter().enumerate() {
                let (pattern, names) = pattern(&variant.fields)?;
                let (save, load) = fields_of(&variant.fields, &names)?;
                let (ident, text, index) = (&variant.ident, variant.ident.to_string(), index as u32);
                saves.extend(quote!(Self::#ident #pattern => { to.variant(#text, #index); #save to.end(); }));
                let fresh = fresh_fields(&variant.fields);
                loads.extend(quote! {
                    #index => {
                        if !matches!(self, Self::#ident { .. }) {
                            *self = Self::#ident #fresh;
                        }
                        if let Self::#ident #pattern = self { #load }
                    }
                });
            }
            (
                quote!(match self { #saves }),
                quote!(match from.variant()? { #loads _ => return Err(::engine::state::Damaged) }),
            )
        }
        Data::Union(_) => return Err(syn::Error::new_spanned(name, "a union is no state")),
    };
    let bounded = bounded(input, &quote!(::engine::state::State));
    let (generics, types, bounds) = bounded.split_for_impl();
    Ok(quote! {
        #[allow(clippy::all, clippy::pedantic, unused_variables, irrefutable_let_patterns)]
        impl #generics ::engine::state::State for #name #types #bounds {
            fn save(&self, to: &mut ::engine::state::Saver) { #saves }
            fn load(&mut self, from: &mut ::engine::state::Loader) -> Result<(), ::engine::state::Damaged> {
                #loads
                Ok(())
            }
        }
    })
}

/// The generics of a type, each of whose parameters has the bound.
fn bounded(input: &DeriveInput, bound: &TokenStream) -> syn::Generics {
    let mut generics = input.generics.clone();
    for parameter in input.generics.type_params() {
        let name = &parameter.ident;
        generics.make_where_clause().predicates.push(syn::parse_quote!(#name: #bound));
    }
    generics
}

fn fresh_fields(fields: &Fields) -> TokenStream {
    let members = fields.members();
    quote!({ #(#members: ::engine::state::Fresh::fresh(),)* })
}

fn fresh_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let made = match &input.data {
        Data::Struct(data) => {
            let fields = fresh_fields(&data.fields);
            quote!(Self #fields)
        }
        Data::Enum(data) => {
            let Some(first) = data.variants.first() else {
                return Err(syn::Error::new_spanned(name, "nothing to begin with"));
            };
            let (ident, fields) = (&first.ident, fresh_fields(&first.fields));
            quote!(Self::#ident #fields)
        }
        Data::Union(_) => return Err(syn::Error::new_spanned(name, "a union is no state")),
    };
    let bounded = bounded(input, &quote!(::engine::state::Fresh));
    let (generics, types, bounds) = bounded.split_for_impl();
    Ok(quote! {
        impl #generics ::engine::state::Fresh for #name #types #bounds {
            fn fresh() -> Self { #made }
        }
    })
}
