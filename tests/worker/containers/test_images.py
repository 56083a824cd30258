"""Which names are images, and what an operator may set."""

import pytest

from horae.model.errors import InvalidInput
from horae.worker.containers.references import check_reference
from horae.worker.containers.settings import ContainerSettings

DIGEST = "sha256:" + "0a" * 32
GOOD = f"""
    alpine alpine:3 library/alpine docker.io/library/alpine:3.20 localhost:5000/a/b_c-d:x ghcr.io/a/b@{DIGEST}
    quay.io/a.b/c__d:1@{DIGEST} docker.io/library/docker:27 127.0.0.1:1/dir:x
"""
BAD = """
    --privileged -v=/:/host dir:x dir:/etc oci-archive:/x.tar docker-archive:x docker://alpine oci:x
    Alpine alpine: alpine:-x    containers-storage:x docker-daemon:x:1 /etc ../a a//b a@sha256:1
"""


@pytest.mark.parametrize("image", GOOD.split())
def test_references_to_registries_are_images(image):
    check_reference(image)


@pytest.mark.parametrize("image", [*BAD.split(), "", "a b", "a\n", "x" * 600])
def test_options_and_places_on_the_host_are_not(image):
    with pytest.raises(InvalidInput, match="is not the name of an image"):
        check_reference(image)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"engine": "lxc"}, "neither podman nor docker"),
        ({"network": "host"}, "not possible"),
        ({"network": "--x"}, "not possible"),
        ({"runtime": "-x"}, "not possible"),
        ({"roots": ["here"]}, "not an absolute path"),
        ({"images": ["dir:x"]}, "name of an image"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting, message):
    with pytest.raises(InvalidInput, match=message):
        ContainerSettings(**setting)
