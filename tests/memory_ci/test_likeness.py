"""Likeness of texts is what a full comparison gives wherever it is enough, however much of that is spared."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from wisen.memory_ci.likeness import ratio

_WORDS = st.lists(
    st.sampled_from(["check", "the", "carrier", "before", "it", "routes", "a", "parcel", "twice"]), max_size=30
)


@given(words=_WORDS, changes=st.lists(st.tuples(st.integers(0, 200), st.text(max_size=3)), max_size=12))
def test_nothing_that_is_alike_enough_is_passed_over(words: list[str], changes: list[tuple[int, str]]):
    old = new = " ".join(words)
    for place, instead in changes:
        new = new[:place] + instead + new[place + 1 :]
    whole = SequenceMatcher(None, old, new, autojunk=False).ratio()

    for enough in (0.8, 0.9, 0.95):
        assert ratio(old, new, enough) in ((whole,) if whole >= enough else (whole, 0.0))
