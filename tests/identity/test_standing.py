"""Whether two tasks agree in content, or one denies what the other says."""

import pytest

from wisen.identity import content_key, standing

AGREE = [
    ("Nordic Timber: how much did they bill us?", "What is the invoice total of Nordic Timber?"),
    ("Berlin's number of inhabitants, please", "What is the population of Berlin?"),
    ("Tell me of ACME GmbH", "tell me about acme gmbh"),
    ("What does a parcel to zone 7 cost?", "Hi Anna, what does zone 7 cost?"),
    ("Import the orders from SAP to Oracle.", "Bring orders out of SAP over into Oracle."),
    ("List the invoices of 2024-05-03.", "Which bills came on 3 May 2024?"),
    ("List the invoices of May 3rd, 2024.", "Which bills came on 2024-5-3?"),
    ("List the invoices of 3 May.", "Which bills came on 2024-05-03?"),
    ("Is the audit possible on 03 july?", "Book 3 July for the audit."),
    ("Run the job at 09:30.", "Is the job running at 9:30 am?"),
    ("Run the job at 17:30.", "Is the job running at 5:30 pm?"),
    ("Run the job at 12:15 am.", "Is the job running at 0:15?"),
    ("Deploy v1.2.3 to staging.", "Roll out version 1.2.3 on staging"),
    ("Read the report in s3://acme-raw/may.", "Who may open s3://acme-raw/may at all?"),
    ("Two parcels, please: what do the two cost?", "Send two parcels."),
    ("Как испечь торт?", "Торт испечь как?"),
]
NEITHER = [
    ("What does a parcel to zone 7 cost?", "What does a parcel to zone 8 cost?"),
    ("What does a parcel to zone 7 cost?", "What does a parcel cost?"),
    ("What is the VAT in DE?", "What is the VAT in FR?"),
    ("List the invoices of 2024-05-03.", "List the invoices of 3 June 2024."),
    ("List the invoices of 2024-05-03.", "List the invoices of 3 May 2023."),
    ("Book 3 june for the audit.", "Book 3 july for the audit."),
    ("Book the room for 5:30 am.", "Book the room for 5:30 pm."),
    ("Book the room for 5:30 pm.", "Book the room for 5:30."),
    ("Deploy v1.2.3 to staging.", "Deploy version 1.2.4 to staging."),
    ("Read the report in s3://acme-raw/may.", "Read the report in s3://acme-old/june."),
    ("Which big parcels go to zone 7?", "Which small parcels go to zone 7?"),
    ("count the red chairs", "count the chairs"),
    ("count the big chairs", "count the small chairs"),
    ("count the two chairs", "count the chairs"),
    ("Archive the draft of the offer.", "Count the chairs, not the tables."),
    ("Don't archive the draft of the offer.", "The draft of the offer shall not go to the archive."),
    ("Send the report without the appendix.", "Appendix must not be in the report when it goes out."),
    (
        "Don't pay invoices from guests whose stay was cancelled by the hotel manager in spring.",
        "Open the archive, look for letters, and pay invoices.",
    ),
]
CONTRADICT = [
    ("Archive the draft of the offer.", "Don't archive the draft of the offer."),
    ("List the orders that are not paid.", "List the orders that are paid."),
    ("Send the report to Anna without the appendix.", "Send the report to Anna with the appendix."),
    ("Include the archived orders.", "Exclude the archived orders."),
    ("Import the orders from SAP to Oracle.", "Import the orders from Oracle to SAP."),
]


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_tasks_with_the_same_content_agree_however_it_is_written(one: str, other: str):
    assert standing(one, other) == standing(other, one) == "agrees"


@pytest.mark.parametrize(("one", "other"), NEITHER)
def test_tasks_with_other_content_or_none_do_not_agree(one: str, other: str):
    assert standing(one, other) == standing(other, one) == ""


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_tasks_of_which_one_denies_the_other_contradict_each_other(one: str, other: str):
    assert standing(one, other) == standing(other, one) == "contradicts"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("of 2024-05-03", "of 3 May 2024"),
        ("of 2024-05-03", "of May 3, 2024"),
        ("at 09:30", "at 9:30 AM"),
        ("of v1.2.3", "of version 1.2.3"),
        ("3 May, 5000 items", "5000 items of 3 May"),
    ],
)
def test_one_date_time_or_version_has_one_key(one: str, other: str):
    assert content_key(one) == content_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 of 3 may fail", "1 of 3 May"),
        ("of v1.0", "of 1"),
        ("at 25:10 pm", "at 13:10"),
    ],
)
def test_what_only_looks_like_a_date_or_version_has_its_own_key(one: str, other: str):
    assert content_key(one) != content_key(other)
