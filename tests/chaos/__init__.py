"""The fault suite: it loads a whole installation, breaks everything in it over and over, and judges what came out.

`python -m tests.chaos` (from the root of the repository) runs it. A *seed* gives the plan; a *campaign* is one or more
seeds; the *history* is what the clients did, the *effects* are what the jobs did, the *truth* is what the database says
in the end; *checkers* compare the three. What the suite is worth is shown by bugs that are planted on purpose.

Under pytest the folder of all tests is importable, and so it is here: parts are shared with tests/faults.
"""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
PYTHONPATH = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
"""Of programs of the suite: they run what we run."""
if str(TESTS) not in sys.path:
    sys.path.insert(1, str(TESTS))
