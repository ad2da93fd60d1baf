//! `#[derive(RegisterBank)]`: a device's field `registers`, and the port by which the bus reaches them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{DeriveInput, Expr, Ident, Token};

/// Derives `RegisterBank`. `#[port(EXPRESSION)]` before the type gives the port, in terms of `self`;
/// `#[banks(FIELD, BANKS)]` a field whose elements have registers, too, and their places.
pub fn register_bank_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let attribute = input.attrs.iter().find(|attribute| attribute.path().is_ident("port"));
    let attribute = attribute.ok_or_else(|| syn::Error::new_spanned(name, "`#[port(EXPRESSION)]` is missing"))?;
    let port: Expr = attribute.parse_args()?;
    let banks = input.attrs.iter().find(|attribute| attribute.path().is_ident("banks"));
    let bank =
        banks.map(|banks| banks.parse_args().map(|Banks(field, places)| bank_of(&field, &places))).transpose()?;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics crate::registers::RegisterBank for #name #types #bounds {
            fn registers(&mut self) -> &mut crate::registers::Registers {
                &mut self.registers
            }

            fn port(&self) -> crate::registers::Port {
                #port
            }

            #bank
        }
    })
}

/// `#[banks(FIELD, BANKS)]`.
struct Banks(Ident, Expr);

impl Parse for Banks {
    fn parse(input: ParseStream) -> syn::Result<Banks> {
        let field = input.parse()?;
        input.parse::<Token![,]>()?;
        Ok(Banks(field, input.parse()?))
    }
}

/// `RegisterBank::bank` of a device with banks in a field.
fn bank_of(field: &Ident, places: &Expr) -> TokenStream {
    quote! {
        fn bank(&mut self, offset: u32) -> (&mut crate::registers::Registers, u32) {
            match #places.at(offset) {
                Some((index, within)) if index < self.#field.len() => (&mut self.#field[index].registers, within),
                _ => (&mut self.registers, offset),
            }
        }
    }
}
