"""Writes a signed layout with `count` steps and one signed link a step: in-toto-links.py <dir> <count>."""

import json
import os
import sys

from in_toto.models.layout import Layout, Step
from in_toto.models.link import FILENAME_FORMAT, Link
from in_toto.models.metadata import Metablock
from securesystemslib.keys import format_keyval_to_metadata, generate_ed25519_key


def public_part(key):
    # The form in which in-toto-verify reads Ed25519 keys; without the private half.
    return format_keyval_to_metadata(key["keytype"], key["scheme"], key["keyval"], private=False)


def write_signed(signed, key, path):
    block = Metablock(signed=signed, signatures=[], compact_json=True)
    block.sign(key)
    block.dump(path)


def main(folder, count):
    owner, functionary = generate_ed25519_key(), generate_ed25519_key()
    keyid = functionary["keyid"]
    names = [f"step-{number}" for number in range(count)]
    layout = Layout(
        expires="2999-12-31T00:00:00Z",
        keys={keyid: {**public_part(functionary), "keyid": keyid}},
        steps=[Step(name=name, pubkeys=[keyid], threshold=1) for name in names],
        inspect=[],
    )
    write_signed(layout, owner, os.path.join(folder, "root.layout"))
    for name in names:
        path = os.path.join(folder, FILENAME_FORMAT.format(step_name=name, keyid=keyid))
        write_signed(Link(name=name, command=[], materials={}, products={}, byproducts={}), functionary, path)
    with open(os.path.join(folder, "owner.pub"), "w", encoding="utf8") as file:
        json.dump(public_part(owner), file)


main(sys.argv[1], int(sys.argv[2]))
