"""The newest shapes as dataclasses, one file for each page of the specification's schema."""
