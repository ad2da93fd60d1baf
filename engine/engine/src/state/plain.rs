//! Numbers, flags, texts and tuples as state.

use super::{Damaged, Fresh, Loader, Saver, Shown, State};

macro_rules! numbers {
    ($($number:ty => $shown:ident as $shown_as:ty),*) => {$(
        impl State for $number {
            fn save(&self, to: &mut Saver) {
                to.leaf(|| Shown::$shown(*self as $shown_as), &self.to_le_bytes());
            }

            fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
                let bytes = from.raw(size_of::<$number>())?;
                *self = <$number>::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
                Ok(())
            }

            fn save_all(all: &[$number], to: &mut Saver) {
                match &mut to.tree {
                    Some(tree) if stringify!($number) == "u8" => {
                        tree.leaf(Shown::Bytes(all.iter().map(|one| *one as u8).collect()));
                        tree.is_bytes = true;
                    }
                    Some(_) => all.iter().for_each(|one| { to.item(); one.save(to) }),
                    None => to.bytes.extend(all.iter().flat_map(|one| one.to_le_bytes())),
                }
            }

            fn load_all(all: &mut [$number], from: &mut Loader) -> Result<(), Damaged> {
                let bytes = from.raw(size_of_val(all))?;
                for (one, bytes) in all.iter_mut().zip(bytes.chunks_exact(size_of::<$number>())) {
                    *one = <$number>::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
                }
                Ok(())
            }
        }

        impl Fresh for $number {
            fn fresh() -> $number {
                0
            }
        }
    )*};
}

numbers!(
    u8 => Number as u64, u16 => Number as u64, u32 => Number as u64, u64 => Number as u64, u128 => Number as u64,
    i8 => Signed as i64, i16 => Signed as i64, i32 => Signed as i64, i64 => Signed as i64, i128 => Signed as i64
);

impl State for usize {
    fn save(&self, to: &mut Saver) {
        (*self as u64).save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = usize::try_from(u64::loaded(from)?).map_err(|_| Damaged)?;
        Ok(())
    }
}

impl Fresh for usize {
    fn fresh() -> usize {
        0
    }
}

impl State for bool {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Flag(*self), &[u8::from(*self)]);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = match from.raw(1)? {
            [0] => false,
            [1] => true,
            _ => return Err(Damaged),
        };
        Ok(())
    }
}

impl Fresh for bool {
    fn fresh() -> bool {
        false
    }
}

impl State for char {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Text(self.to_string()), &u32::from(*self).to_le_bytes());
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = char::from_u32(u32::loaded(from)?).ok_or(Damaged)?;
        Ok(())
    }
}

impl Fresh for char {
    fn fresh() -> char {
        '\0'
    }
}

impl State for String {
    fn save(&self, to: &mut Saver) {
        match &mut to.tree {
            Some(tree) => tree.leaf(Shown::Text(self.clone())),
            None => self.as_bytes().to_vec().save(to),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        *self = String::from_utf8(Vec::loaded(from)?).map_err(|_| Damaged)?;
        Ok(())
    }
}

impl Fresh for String {
    fn fresh() -> String {
        String::new()
    }
}

impl State for () {
    fn save(&self, to: &mut Saver) {
        to.leaf(|| Shown::Nothing, &[]);
    }

    fn load(&mut self, _: &mut Loader) -> Result<(), Damaged> {
        Ok(())
    }
}

impl Fresh for () {
    fn fresh() {}
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: State),*> State for ($($name,)*) {
            #[allow(non_snake_case)]
            fn save(&self, to: &mut Saver) {
                let ($($name,)*) = self;
                if to.is_shown() {
                    to.list(0);
                }
                $(to.item(); $name.save(to);)*
                to.end();
            }

            #[allow(non_snake_case)]
            fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
                let ($($name,)*) = self;
                $($name.load(from)?;)*
                Ok(())
            }
        }

        impl<$($name: Fresh),*> Fresh for ($($name,)*) {
            fn fresh() -> Self {
                ($($name::fresh(),)*)
            }
        }
    };
}

tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
