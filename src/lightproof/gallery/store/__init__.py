"""What a gallery keeps, in SQL: names, hashes and bytes.

The only room that knows SQL. It does not know what a template means.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with Store.open(f"{folder.name}/office.gallery") as store:
...     with store.writing() as change:
...         change.add_photos("Ada", [NewPhoto(hash="41", parameters="robust", template=b"...")])
...     [person.name for person in store.people()]
Added(added=1, known=0)
['Ada']
>>> folder.cleanup()
"""

from lightproof.gallery.store.change import Change
from lightproof.gallery.store.person_names import check_name
from lightproof.gallery.store.records import Added, Counts, Forgotten, NewPhoto, Person, Photo, Refusal, Removed
from lightproof.gallery.store.store import Store
from lightproof.gallery.store.view import View

__all__ = [
    "Added",
    "Change",
    "Counts",
    "Forgotten",
    "NewPhoto",
    "Person",
    "Photo",
    "Refusal",
    "Removed",
    "Store",
    "View",
    "check_name",
]
