//! Large contents: a snapshot has only the pages that are not empty.

use std::collections::BTreeMap;

use super::{Damaged, Fresh, Loader, Saver, State};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// A page that is not empty.
pub type Page = Box<[u8; PAGE_BYTES]>;

/// Pages by their numbers. To people, only their number is shown.
pub fn save<'a>(pages: impl Iterator<Item = (u32, &'a [u8; PAGE_BYTES])> + Clone, to: &mut Saver) {
    let count = pages.clone().count();
    if to.is_shown() {
        (count as u64).save(to);
        return;
    }
    to.list(count);
    for (number, page) in pages {
        number.save(to);
        to.raw(page);
    }
    to.end();
}

/// The saved pages.
///
/// # Errors
/// [`Damaged`], also if a page's number is not below `count`.
pub fn loaded(count: u64, from: &mut Loader) -> Result<BTreeMap<u32, Page>, Damaged> {
    let len = from.list()?;
    (0..len)
        .map(|_| {
            let number = u32::loaded(from)?;
            let page = from.raw(PAGE_BYTES)?.try_into().map_err(|_| Damaged)?;
            (u64::from(number) < count).then(|| (number, Box::new(page))).ok_or(Damaged)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Shown, shown};
    use super::*;

    struct Flash(BTreeMap<u32, Page>);

    impl State for Flash {
        fn save(&self, to: &mut Saver) {
            save(self.0.iter().map(|(number, page)| (*number, page.as_ref())), to);
        }

        fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
            self.0 = loaded(16, from)?;
            Ok(())
        }
    }

    #[test]
    fn pages_that_hold_something_are_saved() {
        let before = Flash([(3, Box::new([7; PAGE_BYTES])), (15, Box::new([9; PAGE_BYTES]))].into());
        let bytes = super::super::saved(&before);
        assert_eq!(bytes.len(), 8 + 2 * (4 + PAGE_BYTES));
        let mut after = Flash([(4, Page::fresh())].into());
        assert_eq!(after.load(&mut Loader::new(&bytes)), Ok(()));
        assert_eq!(after.0, before.0);
        assert_eq!(shown(&before), Shown::Number(2));
    }

    #[test]
    fn a_page_past_the_end_is_damaged() {
        let bytes = super::super::saved(&Flash([(16, Page::fresh())].into()));
        assert_eq!(Flash(BTreeMap::new()).load(&mut Loader::new(&bytes)), Err(Damaged));
    }
}
