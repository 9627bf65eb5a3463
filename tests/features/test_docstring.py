import pytest

from mcpconnect.features.docstring import read_docstring


def google(city, days):
    """Find something.

    Longer text:
      - a point

    Args:
        city (str): The city,
            continued here.
        days: How many: days

    Returns:
        A forecast.
    """


def numpy(city, days):
    """Find something.

    Longer text:
      - a point

    Parameters
    ----------
    city : str
        The city,
        continued here.
    days
        How many: days

    Returns
    -------
    str
        A forecast.
    """


def rest(city, days):
    """Find something.

    Longer text:
      - a point

    :param city: The city,
        continued here.
    :param int days: How many: days
    :returns: A forecast.
    """


@pytest.mark.fault(85)
@pytest.mark.parametrize("function", [google, numpy, rest])
def test_parameter_sections_leave_the_description(function: object) -> None:
    read = read_docstring(function)
    assert read.description == "Find something.\n\nLonger text:\n  - a point\n\nReturns: A forecast."
    assert read.parameters == {"city": "The city,\ncontinued here.", "days": "How many: days"}


def test_a_docstring_without_sections_is_kept_as_it_is() -> None:
    def plain() -> None:
        """Note: nothing to see.

        Usage:
            call it
        """

    read = read_docstring(plain)
    assert read.description == "Note: nothing to see.\n\nUsage:\n    call it"
    assert read.parameters == {}


def test_no_docstring_and_an_empty_one_are_none() -> None:
    def bare() -> None: ...

    def empty() -> None:
        """ """

    assert read_docstring(bare).description is None
    assert read_docstring(empty).description is None
