"""What holds for a gallery on a PostgreSQL server."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, make_url, text

from lightproof.errors import BadGallery, CannotWrite, GalleryBusy
from lightproof.gallery.store import NewPhoto, Store, postgres
from lightproof.gallery.store.database import PlaceErrors


def do(place: str, *commands: str) -> None:
    engine = create_engine(make_url(place).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for command in commands:
            connection.execute(text(command))
    engine.dispose()


def refused(place: object, got: str, **more: object) -> None:
    with pytest.raises(BadGallery) as caught:
        Store.open(str(place) if isinstance(place, str) else place.render_as_string(hide_password=False), **more)
    url = make_url(place)
    host = f"{url.host}:{url.port}" if url.port else url.host or ""
    shown = f"postgresql://{url.username}@{host}/{url.database}"
    assert str(caught.value) == f"{shown} must be a gallery written by lightproof; got {got}."
    assert caught.value.__cause__ is None


def test_the_password_is_shown_nowhere(postgres_place):
    assert "geheim" in postgres_place or make_url(postgres_place).password is None
    with Store.open(postgres_place) as store:
        assert store.place.startswith(f"postgresql://{make_url(postgres_place).username}@")
        assert "geheim" not in store.place
        assert "options" not in store.place


def test_a_wrong_password_is_told(postgres_place, postgres_server):
    if postgres_server.url.password is None:
        pytest.skip("this server asks for no password")
    refused(make_url(postgres_place).set(password="falsch"), "a server that refuses the user or the password")
    refused(make_url(postgres_place).set(username="nobody-here"), "a server that refuses the user or the password")


def test_a_database_that_is_not_there_is_told(postgres_place):
    refused(make_url(postgres_place).set(database="none_here"), "a server without a database of that name")


def test_a_server_that_is_not_there_is_told():
    refused("postgresql://u:geheim@/d?host=/nowhere", "no answer from a server")
    refused("postgresql://u:geheim@127.0.0.1:1/d", "no answer from a server")


def test_no_tables_are_made_unless_it_is_asked_for(postgres_place):
    refused(postgres_place, "a database without tables", create=False)
    refused(postgres_place, "a database without tables", create=False)


@pytest.mark.parametrize(
    "commands",
    [
        ["CREATE TABLE people (id int)"],
        [f"CREATE TABLE {name} (key text, value text)" for name in ("facts", "people", "photos", "refused")],
        [f"CREATE TABLE {name} (id int)" for name in ("facts", "people", "photos", "refused")],
    ],
)
def test_tables_of_another_program_are_told_and_left_alone(postgres_place, commands):
    do(postgres_place, *commands)
    refused(postgres_place, "a database with other tables")


def test_other_tables_beside_ours_are_left_alone(postgres_place):
    do(postgres_place, "CREATE TABLE shoes (size int)", "INSERT INTO shoes VALUES (42)")
    with Store.open(postgres_place) as store:
        assert store.people() == []
    Store.open(postgres_place, create=False).close()


def test_a_database_that_cannot_hold_every_name_is_told(postgres_server):
    with postgres_server.database("LATIN1") as place:
        refused(place, "a database whose encoding is LATIN1, not UTF8")


def test_who_may_only_read_reads_and_is_told_so_when_writing(postgres_place, postgres_server):
    with Store.open(postgres_place) as store, store.writing() as change:
        change.add_photos("Ada", [NewPhoto("a", "p", b"x")])
    schema = make_url(postgres_place).query["options"].removeprefix("-csearch_path=")
    role = f"{schema}_reader"
    do(
        postgres_place,
        f"CREATE ROLE {role} LOGIN PASSWORD 'geheim'",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
    )
    try:
        reader = make_url(postgres_place).set(username=role, password="geheim").render_as_string(hide_password=False)
        with Store.open(reader, create=False) as store:
            assert [person.name for person in store.people()] == ["Ada"]
            with pytest.raises(CannotWrite, match="got: a user who may not do this"), store.writing() as change:
                change.forget("Ada")
    finally:
        do(postgres_place, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_connection_that_breaks_is_told_and_the_next_question_has_a_new_one(postgres_place):
    backends = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'lp-broken'"

    def break_off():
        do(postgres_place, f"SELECT pg_terminate_backend(pid) {backends}")

    def write():
        with store.writing() as change:
            change.add_photos("Ada", [NewPhoto("a", "p", b"x")])
            break_off()
            change.add_photos("Bob", [NewPhoto("b", "p", b"x")])

    def read():
        with store.reading() as view:
            break_off()
            view.people()

    with Store.open(f"{postgres_place}&application_name=lp-broken") as store:
        with pytest.raises(CannotWrite, match="got: a server that broke off"):
            write()
        assert store.people() == []
        with pytest.raises(BadGallery, match="got a server that broke off"):
            read()
        break_off()
        with store.writing() as change:
            change.add_photos("Ada", [NewPhoto("a", "p", b"x")])
        assert store.counts() == (1, 1, 0)


def test_an_acknowledged_change_is_on_the_disk_whatever_the_default_of_the_server(postgres_place):
    place = make_url(postgres_place)
    options = f"{place.query['options']} -csynchronous_commit=off"
    lazy = place.update_query_dict({"options": options}).render_as_string(hide_password=False)
    with Store.open(lazy) as store, store.writing() as change:
        assert change._connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_rows_that_were_deleted_are_cleaned_away(postgres_place):
    with Store.open(postgres_place) as store:
        with store.writing() as change:
            change.add_photos("Ada", [NewPhoto("a", "p", b"x" * 99999)])
        with store.writing() as change:
            change.forget("Ada")
        with store.reading() as view:
            pages = view._connection.execute(
                text("SELECT pg_relation_size('photos'), pg_relation_size('people')")
            ).one()
    assert tuple(pages) == (0, 0)


def test_that_a_server_does_not_overwrite_is_said(postgres_place, monkeypatch):
    rest = (
        "without overwriting them: bytes of them may lie in the server's files until it uses the room again, and in "
        "its log and backups."
    )
    with Store.open(postgres_place) as store:
        with store.writing() as change:
            change.add_photos("Ada", [NewPhoto("a", "p", b"x")])
            change.add_photos("Bob", [NewPhoto("b", "p", b"x")])
        with store.writing() as change:
            change.forget("Ada")
        assert not store.unswept
        assert store.leftover() == f"The rows are gone, but PostgreSQL frees deleted rows {rest}"
        monkeypatch.setattr(postgres, "SWEEP_WAIT_MS", 10)
        with Store.open(postgres_place) as other, other.reading() as view:
            # A lock such as another cleaning of the same table holds.
            view._connection.execute(text("LOCK TABLE photos IN SHARE UPDATE EXCLUSIVE MODE"))
            with store.writing() as change:
                change.forget("Bob")
            assert store.unswept
            assert store.leftover() == (
                f"The rows are gone, but PostgreSQL frees deleted rows when nobody is in the way, {rest}"
            )
    with Store.open(postgres_place) as store:
        assert not store.unswept


@pytest.mark.parametrize(
    ("state", "reading", "writing"),
    [
        ("55P03", GalleryBusy, GalleryBusy),
        ("40P01", GalleryBusy, GalleryBusy),
        ("53100", CannotWrite, CannotWrite),
        ("25006", BadGallery, CannotWrite),
        ("57P01", BadGallery, CannotWrite),
        ("28P01", BadGallery, BadGallery),
        ("3D000", BadGallery, BadGallery),
        ("42P01", BadGallery, BadGallery),
        ("XX001", BadGallery, BadGallery),
        (None, BadGallery, CannotWrite),
    ],
)
def test_every_complaint_of_a_server_becomes_one_sentence(state, reading, writing):
    complaint = RuntimeError("line\nline, geheim")
    complaint.sqlstate = state
    for kind, while_writing in ((reading, False), (writing, True)):
        told = PlaceErrors("postgresql://u@h/d", 30).sentence(complaint, while_writing)
        assert type(told) is kind
        assert str(told).startswith("postgresql://u@h/d must be ")
        assert "line" not in str(told)
        assert str(told).endswith(".")
