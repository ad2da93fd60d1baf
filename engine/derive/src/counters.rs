//! `#[derive(Counters)]`: totals for the results, by the names of their fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Field};

/// Derives a method `counters`. `#[counter(skip)]` before a field leaves it out.
pub fn counters_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(name, "a struct of totals"));
    };
    let is_counter = |field: &&Field| !field.attrs.iter().any(|attribute| attribute.path().is_ident("counter"));
    let fields: Vec<_> = data.fields.iter().filter(is_counter).filter_map(|field| field.ident.as_ref()).collect();
    let names = fields.iter().map(ToString::to_string);
    Ok(quote! {
        impl #name {
            /// The totals, by their names.
            pub fn counters(&self) -> Vec<(&'static str, u64)> {
                vec![#((#names, self.#fields)),*]
            }
        }
    })
}
