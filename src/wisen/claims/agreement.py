"""Whether what two texts claim can be one and the same."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain

from wisen.claims.claim import Claim, Word
from wisen.claims.order import Meant
from wisen.claims.vocabulary import alike_of, complements_of, opposites_of, vocabulary

_MANY = 0.4
_MANY_BEHIND_FIRST = 0.25
_OWN_WORDS = 2
_OWN_OF_BOTH = 2
_MOST_OF_IT = 0.55
_IN_ORDER = 0.9
_FEW = 4
_NUMBER = frozenset(("number",))
_FILLING = frozenset(("always", "ever", "carefully", "then"))


def hard_content_agrees(one: Claim, other: Claim) -> bool:
    """Whether numbers with their units, dates, codes, quotations and names are the same on both sides.

    What stands in one as a code and in the other as a plain word is there. A number in words without a unit may be left
    out, and a name too where other content is shared; another one in its place is other content.
    """
    return not (_lacks_values(one, other) or _lacks_values(other, one) or _replaced(one, other))


def has_content(one: Claim, other: Claim) -> bool:
    """Whether two claims hold anything but words to agree in; a number in words counts where both have it."""
    return bool(_hard(one) | _hard(other) | one.foreign | other.foreign | (one.counts & other.counts))


def other_content(one: Claim, other: Claim) -> bool:
    """Whether each of two claims has content in whose place the other has other content: 25 percent, 12 percent.

    What only one of them has may be an example or a reason, unless it is a limit, or a name where nothing is shared.
    Where the other has no value at all, it is what the one is about.
    """
    lacking = _lacks_values(one, other), _lacks_values(other, one)
    if any(lacking) and not (_has_values(one) and _has_values(other)):
        return True
    return all(lacking) or _replaced(one, other)


def in_place_of_another(one: Claim, other: Claim) -> bool:
    """Whether each of two claims has a value in the other's place: 25 percent, 12 percent; at most 3, at least 3.

    A value stands only in the place of one of its kind, and a number with a unit in that of one that measures the same:
    "45 EUR" and "twice" can both be right. What only one of them has contradicts nothing.
    """
    return _swapped(one, other) or not _kinds_beyond(one, other).isdisjoint(_kinds_beyond(other, one))


def _has_values(claim: Claim) -> bool:
    """Whether it holds a number, date, code or quotation."""
    return bool(claim.numbers or claim.dates or claim.codes or claim.quotes)


def _lacks_values(one: Claim, other: Claim) -> bool:
    """Whether the other claim lacks a number, date, code or quotation of this one."""
    return (
        _missing_numbers(one.numbers, other)
        or _missing_dates(one, other)
        or bool((one.codes | one.quotes) - other.said)
    )


def _replaced(one: Claim, other: Claim) -> bool:
    """Whether a count, name, owner, unit, script or limit has another one in its place.

    A limit may not be left out either, nor a word in another script, and a name only where other content is shared.
    """
    return (
        _swapped(one, other)
        or one.foreign != other.foreign
        or (bool((one.names - other.said) | (other.names - one.said)) and not common_content(one, other))
        or _missing_numbers(_limits(one), other)
        or _missing_numbers(_limits(other), one)
    )


def _swapped(one: Claim, other: Claim) -> bool:
    """Whether both have a count, name, owner, unit, script or limit, and not the same."""
    limits, other_limits = _limits(one), _limits(other)
    return (
        bool(one.foreign and other.foreign and one.foreign != other.foreign)
        or bool(one.owners and other.owners and one.owners.isdisjoint(other.owners))
        or _other_units(one, other)
        or (_missing_numbers(one.counts, other) and _missing_numbers(other.counts, one))
        or bool(one.names - other.said and other.names - one.said)
        or any(other_limits.get(number, limit) != limit for number, limit in limits.items())
    )


def _limits(claim: Claim) -> dict[str, frozenset[str]]:
    """Numbers that are limits, each with "above", "below" or both."""
    return {
        number: frozenset(way for bound, way in claim.directions if bound == number) for number, _ in claim.directions
    }


def common_content(one: Claim, other: Claim) -> frozenset[str]:
    """The numbers, dates, codes, quotations and names that two claims have in common."""
    return _hard(one) & _hard(other)


def shared_content(one: Claim, other: Claim) -> float:
    """How much content two claims share, from 0 to 2: a number, date, code or quotation is 1, a name a sixth."""
    names = len(one.names & other.names)
    return min(2.0, len(common_content(one, other)) - names + names / 6)


def says_more(one: Claim, other: Claim) -> bool:
    """Whether one of two claims has nearly twice as many words as the other: a condition, or an exception."""
    fewer, more = sorted((len(one.stems), len(other.stems)))
    return fewer < _MOST_OF_IT * more


def contradict(one: Claim, other: Claim) -> bool:
    """Whether one affirms what the other denies, or they say opposite things.

    It counts only of one thing, so that "go on" and "come next" pass, and "failed without any bug" beside "look for the
    bug": see `_of_one_thing`.
    """
    return deny(one, other) or oppose(one, other)


def deny(one: Claim, other: Claim) -> bool:
    """Whether a word, or one like it, is negated in one of two claims and not in the other.

    What is left out may be denied by other means: "skip the rows", "don't import the rows".
    """
    mine, others = one.stems - other.stems, other.stems - one.stems
    same = chain(
        ((stem, stem) for stem in one.stems & other.stems),
        ((stem, alike) for stem in mine for alike in alike_of(stem, others)),
    )
    return any(
        _denied_in_one(one, stem, other, its)
        and not _left_out_of_both(one, other, stem, its)
        and _of_one_thing(one, stem, other, its)
        for stem, its in same
    )


def oppose(one: Claim, other: Claim) -> bool:
    """Whether a word stands in one of two claims and its opposite in the other, both negated or neither."""
    mine, others = one.stems - other.stems, other.stems - one.stems
    opposed = ((stem, opposite) for stem in mine for opposite in opposites_of(stem, others))
    return any(_like_in_both(one, stem, other, its) and _of_one_thing(one, stem, other, its) for stem, its in opposed)


def turned_round(one: Claim, other: Claim) -> bool:
    """Whether something goes to what it comes from in the other claim: "import from SAP", "import to SAP"."""
    turned = {what for what, _ in one.ways - other.ways} & {what for what, _ in other.ways - one.ways}
    return any(_of_one_thing(one, what, other, what) for what in turned)


def in_other_order(one: Claim, other: Claim) -> bool:
    """Whether what comes first in one is later in the other, and the other way round, and less stays in its place."""
    mine, others = one.order, other.order
    pairs = (
        (stem, its) for stem in mine for its in (stem, *alike_of(stem, others.keys() - mine.keys())) if its in others
    )
    found = Counter((mine[stem], others[its]) for stem, its in pairs)
    turned = found["earlier", "later"], found["later", "earlier"]
    return all(turned) and sum(turned) > found["earlier", "earlier"] + found["later", "later"]


def both_deny(one: Claim, other: Claim) -> bool:
    """Whether both deny something of the same thing: "No refund leaves early", "Don't grant a refund before that"."""
    return bool(one.denied & other.denied)


def in_like_words(one: Claim, other: Claim) -> bool:
    """Whether the one of two claims that has fewer words has many of them in common with the other."""
    return _in_common(one, other) >= _MANY


def in_one_frame(one: Claim, other: Claim) -> bool:
    """Whether two claims are built of like words, so that those in which they differ make them two claims.

    They begin with the same word, as "Keep ZIP codes as strings" and "Keep phone numbers as strings" do. Or one of them
    has hardly a word of its own, and so has the other, or the words that they share stand in one order. A sentence of
    another shape may say the same with few other words.
    """
    if one.first == other.first and _in_common(one, other) >= _MANY_BEHIND_FIRST:
        return True
    if _own(one, other) >= _OWN_WORDS:
        return False
    return len(one.stems ^ other.stems) <= _OWN_OF_BOTH or _in_one_order(one, other)


def words_in_play(one: Claim, other: Claim) -> int:
    """How many words say whether two claims are one: those of the shorter one, and the fewer own ones."""
    return min(len(one.stems), len(other.stems)) + _own(one, other)


def one_word_apart(one: Claim, other: Claim) -> bool:
    """Whether one word stands in another one's place, and all else is the same: "a refund in place of a new date"."""
    words, others = ([word.stem for word in claim.words if not word.is_link] for claim in (one, other))
    apart = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    return len(words) == len(others) and len(apart) == 1 and not any(alike_of(apart[0][0], {apart[0][1]}))


def likeness(one: Claim, other: Claim) -> float:
    """Which share of the words of both claims is common to them; words of the same meaning count."""
    shared = len(one.stems & other.stems) + len(_alike(one.stems - other.stems, other.stems - one.stems))
    return 2 * shared / ((len(one.stems) + len(other.stems)) or 1)


def reworded(one: Claim, other: Claim) -> bool:
    """Whether two claims of the same words differ only in inflection, synonyms, adverbs, and the order of clauses."""
    mine, others = one.stems - other.stems, other.stems - one.stems
    pairs = _alike(mine, others) | {
        stem: denied
        for stem in mine
        for denied in complements_of(stem, others)
        if _denied_in_one(one, stem, other, denied)
    }
    if _left_over(one, other, pairs.keys()) or _left_over(other, one, set(pairs.values())):
        return False
    if one.directions != other.directions or len(one.duties | other.duties) > len(one.duties & other.duties) + 1:
        return False
    words, other_words = ([word for word in claim.words if not word.floats] for claim in (one, other))
    return _in_order(words, other_words, pairs, fronted=one.begins_with_link != other.begins_with_link)


def _missing_numbers(numbers: Iterable[str], other: Claim) -> bool:
    known = other.numbers | other.counts
    return any(number not in known and not any(_same_number(number, one) for one in known) for number in numbers)


def _other_units(one: Claim, other: Claim) -> bool:
    """Whether they measure one thing in different units: "in milliseconds", "in microseconds"."""
    mine, others = (_measured(units) - {"count"} for units in (one.units - other.units, other.units - one.units))
    return not mine.isdisjoint(others)


def _measured(units: Iterable[str]) -> frozenset[str]:
    measures = vocabulary().measures
    return frozenset(one for unit in units for one in measures.get(unit, _NUMBER))


def _same_number(one: str, other: str) -> bool:
    value, _, unit = one.partition(" ")
    other_value, _, other_unit = other.partition(" ")
    return value == other_value and (not unit or not other_unit or unit == other_unit)


def _kinds_beyond(one: Claim, other: Claim) -> frozenset[str]:
    """Of which kinds the values are that only this claim has: what they measure, numbers, dates, codes."""
    numbers = (number for number in one.numbers if _missing_numbers((number,), other))
    kinds = set(_measured(number.partition(" ")[2] for number in numbers))
    if _missing_dates(one, other):
        kinds.add("date")
    if (one.codes | one.quotes) - other.said:
        kinds.add("code")
    return frozenset(kinds)


def _missing_dates(one: Claim, other: Claim) -> bool:
    return any(
        date not in other.said and not any(_begins(date, known) or _begins(known, date) for known in other.dates)
        for date in one.dates
    )


def _begins(date: str, other: str) -> bool:
    """Whether another date or time says more: 10:30, 10:30:15, unlike 1 March and 12 March."""
    return other.startswith(date) and not other[len(date) : len(date) + 1].isdigit()


def _hard(claim: Claim) -> frozenset[str]:
    return claim.numbers | claim.dates | claim.codes | claim.quotes | claim.names


def _denied_in_one(one: Claim, stem: str, other: Claim, its: str) -> bool:
    """Whether a word is negated in one claim and not in the other, among their rules or among their reasons."""
    return any(mine.isdisjoint(others) for mine, others in _as_meant(one, stem, other, its))


def _left_out_of_both(one: Claim, other: Claim, stem: str, its: str) -> bool:
    """Whether one claim leaves a word out, and the other has it in a clause that denies something."""
    return (stem in one.left_out and its in other.denied) or (its in other.left_out and stem in one.denied)


def _like_in_both(one: Claim, stem: str, other: Claim, its: str) -> bool:
    """Whether a word is negated in both claims, or in none, among their rules or among their reasons."""
    return not all(mine.isdisjoint(others) for mine, others in _as_meant(one, stem, other, its))


def _as_meant(one: Claim, stem: str, other: Claim, its: str) -> Iterator[tuple[frozenset[bool], frozenset[bool]]]:
    """Whether a word is negated in each of two claims, of what is to be done, and of why.

    A reason tells how things are, so that what it says isn't said of what is to be done.
    """
    kinds: tuple[Meant, ...] = ("rule", "reason")
    for meant in kinds:
        mine, others = one.negations.get((stem, meant)), other.negations.get((its, meant))
        if mine and others:
            yield mine, others


def _of_one_thing(one: Claim, stem: str, other: Claim, its: str) -> bool:
    """Whether two words are said of one thing: their clauses have more in common, or one of them says no more."""
    return any(
        not mine or not others or not mine.isdisjoint(others) or any(any(alike_of(word, others)) for word in mine)
        for mine in one.clauses_with(stem)
        for others in other.clauses_with(its)
    )


def _in_common(one: Claim, other: Claim) -> float:
    return len(one.stems & other.stems) / (min(len(one.stems), len(other.stems)) or 1)


def _own(one: Claim, other: Claim) -> int:
    """How many words of its own the claim has that has fewer of them."""
    return min(len(one.stems - other.stems), len(other.stems - one.stems))


def _in_one_order(one: Claim, other: Claim) -> bool:
    """Whether nearly all words that two claims share stand in the same order, or are too few to tell.

    These are the longest row of them that both have in one order, each word where it comes first.
    """
    shared = one.stems & other.stems
    if len(shared) < _FEW:
        return True
    places = {stem: place for place, stem in enumerate(dict.fromkeys(word.stem for word in other.words))}
    rising: list[int] = []
    for stem in dict.fromkeys(word.stem for word in one.words if word.stem in shared):
        at = bisect_left(rising, places[stem])
        rising[at : at + 1] = [places[stem]]
    return len(rising) >= _IN_ORDER * len(shared)


def _alike(mine: AbstractSet[str], others: AbstractSet[str]) -> dict[str, str]:
    """Words of the same meaning, each paired once."""
    pairs: dict[str, str] = {}
    for stem in sorted(mine):
        partner = next((one for one in sorted(alike_of(stem, others)) if one not in pairs.values()), None)
        if partner is not None:
            pairs[stem] = partner
    return pairs


def _left_over(one: Claim, other: Claim, explained: AbstractSet[str]) -> bool:
    return any(
        word.stem not in other.stems and word.stem not in explained and not (word.floats and word.stem in _FILLING)
        for word in one.words
        if not word.is_link
    )


def _in_order(mine: list[Word], others: list[Word], pairs: dict[str, str], *, fronted: bool) -> bool:
    """Whether the words come in one order, but for a clause put in front, or a verb in the passive."""
    order, other_order = [pairs.get(word.stem, word.stem) for word in mine], [word.stem for word in others]
    if order == other_order:
        return True
    if sorted(order) != sorted(other_order):
        return False
    if fronted and any(order[place:] + order[:place] == other_order for place in range(1, len(order))):
        return True
    passive = {pairs.get(word.stem, word.stem) for word in mine if word.is_participle}
    passive ^= {word.stem for word in others if word.is_participle}
    return any([one for one in order if one != verb] == [one for one in other_order if one != verb] for verb in passive)
