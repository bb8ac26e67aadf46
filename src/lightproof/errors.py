"""One family of errors; each member writes its own sentence.

::

    LightproofError
    └── UserError (also a ValueError)      something the caller can put right
        ├── BadParameter                   a setting outside its legal values
        │   └── GridDoesNotFit             patches that do not fit the image
        ├── BadImage                       pixels the method cannot use
        │   ├── TooManyPixels              a picture larger than is unpacked
        │   ├── NoFace                     a photo in which no face was found
        │   └── SeveralFaces               a photo of several people where one is asked for
        ├── BadLabels                      names that do not match their images
        │   ├── UnknownPerson              a name nobody enrolled
        │   ├── UnknownPhoto               a photo that somebody does not have
        │   ├── NameTaken                  a new name that somebody has already
        │   └── DuplicatePhoto             a photo that is enrolled under another name
        ├── contract.NotFitted             asked before ``fit`` or ``enroll``
        ├── BadModelFile                   a file that is not a saved recognizer
        ├── BadGallery                     a file or database that is not a gallery
        ├── GalleryBusy                    a gallery that others are writing to
        ├── BadCluster                     other machines that cannot do the work
        ├── CannotWrite                    a place that takes no file
        ├── UnknownName                    a method or table nobody has
        ├── DatasetMissing                 a folder that is not the data set asked for
        └── MissingExtra                   a package that is installed only on request

Every sentence says what is wrong, where, what is legal and what came. The command line shows it without a
traceback and ends with exit code 1, or 2 where the call itself is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


class LightproofError(Exception):
    """Parent of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[Callable[..., LightproofError], tuple[type[LightproofError], str]]:
        # Errors travel between processes; the facts their sentence was made of do not.
        return _as_said, (type(self), str(self))


def _as_said(kind: type[LightproofError], sentence: str) -> LightproofError:
    error = kind.__new__(kind)
    Exception.__init__(error, sentence)
    return error


class UserError(LightproofError, ValueError):
    """Something the caller can put right."""


class BadParameter(UserError):
    """A setting outside its legal values."""

    def __init__(self, owner: str, name: str, legal: str, got: object) -> None:
        super().__init__(f"`{name}` of {owner} must be {legal}; got {got!r}.")


class GridDoesNotFit(BadParameter):
    """Patches that do not fit the image."""

    def __init__(self, height: object, width: object, cell: object) -> None:
        UserError.__init__(
            self,
            f"PatchGrid needs an image of at least {cell} x {cell} pixels for cell={cell}; got {height} x {width}.",
        )


class BadImage(UserError):
    """Pixels the method cannot use; ``got`` is empty where the error has come from another process."""

    got = ""

    def __init__(self, where: str, legal: str, got: str) -> None:
        super().__init__(f"{where} must be {legal}; got {got}.")
        self.got = got


class TooManyPixels(BadImage):
    """A picture larger than is unpacked."""


class NoFace(BadImage):
    """A photo in which no face was found."""

    def __init__(self, where: str, looks: Sequence[str], pixels: float) -> None:
        legal = f"a photo of a face with at least {pixels:g} pixels between the eyes"
        super().__init__(where, legal, f"none in any look ({', '.join(looks)})")


class SeveralFaces(BadImage):
    """A photo of several people where one is asked for."""

    def __init__(self, where: str, count: int) -> None:
        super().__init__(where, "a photo of one face", f"{count} faces")


class BadLabels(UserError):
    """Names that do not match their images."""

    def __init__(self, where: str, legal: str, got: str) -> None:
        super().__init__(f"{where} must be {legal}; got {got}.")


class UnknownPerson(BadLabels):
    """A name nobody enrolled."""

    def __init__(
        self, label: object, known: Sequence[object], *, what: str = "`label`", nearest: Sequence[object] = ()
    ) -> None:
        shown = ", ".join(repr(name) for name in known[:5]) + (", ..." if len(known) > 5 else "")
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        legal = f"one of the {len(known)} enrolled people ({shown})" if known else "somebody enrolled (there is nobody)"
        UserError.__init__(self, f"{what} must be {legal}; got {label!r}.{hint}")

    @classmethod
    def numbered(cls, number: int) -> UnknownPerson:
        """Say that nobody has a number."""
        error = cls.__new__(cls)
        BadLabels.__init__(error, "The number of a person", "that of somebody enrolled", repr(number))
        return error


class UnknownPhoto(BadLabels):
    """A photo that somebody does not have."""

    def __init__(self, photo: object, name: str) -> None:
        super().__init__("The number of a photo", f"that of a photo of {name!r}", repr(photo))


class NameTaken(BadLabels):
    """A new name that somebody has already."""

    def __init__(self, name: str) -> None:
        super().__init__("The new name", "one that nobody has", f"{name!r}, who is enrolled")


class DuplicatePhoto(BadLabels):
    """A photo that is enrolled under another name."""

    def __init__(self, photo: str, name: str, other: str) -> None:
        super().__init__(f"Photo {photo}", f"new, or of {name!r}", f"one that is enrolled as {other!r}")


class BadModelFile(UserError):
    """A file that is not a saved recognizer."""

    def __init__(self, path: Path, got: str) -> None:
        super().__init__(f"{path} must be a file written by FaceRecognizer.save; got {got}.")


class BadGallery(UserError):
    """A file or database that is not a gallery."""

    def __init__(self, place: Path | str, got: str) -> None:
        super().__init__(f"{place} must be a gallery written by lightproof; got {got}.")


class GalleryBusy(UserError):
    """A gallery that others are writing to."""

    def __init__(self, place: Path | str, legal: str, got: str) -> None:
        super().__init__(f"{place} must be {legal}; got {got}.")


class BadCluster(UserError):
    """Other machines that cannot do the work."""

    def __init__(self, where: str, legal: str, got: str) -> None:
        super().__init__(f"{where} must be {legal}; got {got}.")


class CannotWrite(UserError):
    """A place that takes no file."""

    def __init__(self, path: Path | str, problem: OSError) -> None:
        super().__init__(f"{path} must be a place that can be written; got: {problem.strerror or problem}.")


class DatasetMissing(UserError):
    """A folder that is not the data set asked for."""

    def __init__(self, folder: Path, legal: str, got: str) -> None:
        super().__init__(f"{folder} must be {legal}; got {got}.")


class MissingExtra(UserError):
    """A package that is installed only on request."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what}; install them with: pip install 'lightproof[{extra}]'.")


class UnknownName(UserError):
    """A method, table or data set that does not exist."""

    def __init__(self, what: str, name: str, known: Sequence[str], nearest: Sequence[str]) -> None:
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        super().__init__(f"The {what} must be one of {', '.join(known)}; got {name!r}.{hint}")
