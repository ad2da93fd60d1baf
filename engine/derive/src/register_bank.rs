//! `#[derive(RegisterBank)]`: a device's field `registers`, and the port by which the bus reaches them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Expr};

/// Derives `RegisterBank`. `#[port(EXPRESSION)]` before the type gives the port, in terms of `self`.
pub fn register_bank_of(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let attribute = input.attrs.iter().find(|attribute| attribute.path().is_ident("port"));
    let attribute = attribute.ok_or_else(|| syn::Error::new_spanned(name, "`#[port(EXPRESSION)]` is missing"))?;
    let port: Expr = attribute.parse_args()?;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics crate::registers::RegisterBank for #name #types #bounds {
            fn registers(&mut self) -> &mut crate::registers::Registers {
                &mut self.registers
            }

            fn port(&self) -> crate::registers::Port {
                #port
            }
        }
    })
}
