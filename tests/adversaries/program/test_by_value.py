"""An adversary of a user's file is read where it comes to by value, as in a worker process."""

import importlib.util
import sys

import cloudpickle

from simulator.adversaries.program.sources import source_of

TEXT = """
def mine(coins):
    answer = 0.0
    while True:
        answer = yield answer
"""


def test_a_function_that_comes_by_value_has_the_source_of_its_module(tmp_path):
    path = tmp_path / "mine_by_value.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("mine_by_value", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mine_by_value"] = module
    try:
        spec.loader.exec_module(module)
        cloudpickle.register_pickle_by_value(module)
        again = cloudpickle.loads(cloudpickle.dumps(module.mine))
    finally:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules["mine_by_value"]
    assert again is not module.mine
    assert source_of(again).tree.name == "mine"
