"""transformers builds every model whose config.json we read, on the meta device: its parameters are ours."""

import json
import pathlib

import judges
import pytest
import rankwright
import torch
import transformers

CONFIGS = sorted((pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "hf").glob("*.json"))


def count_parameters(config):
    """Returns the parameters of the model that transformers builds; tied ones count once. The router's correction
    bias counts as one: transformers keeps it as a buffer, and checkpoints have it."""
    config = dict(config)
    made = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(made)
    biases = [b for name, b in model.named_buffers() if name.endswith("e_score_correction_bias")]
    return sum(tensor.numel() for tensor in [*model.parameters(), *biases])


@pytest.fixture(scope="module")
def counted(tally):
    return tally("transformers", judges.version("transformers"), "parameters of models, on the meta device")


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.stem)
def test_parameters_are_those_of_transformers(counted, file):
    plan = {"model": str(file), "world_size": 1, "parallelism": {}}
    ours = rankwright.explain(plan).data["model"]["parameters"]["total"]
    counted.case()
    counted.same(ours, count_parameters(json.loads(file.read_text("utf-8"))), file.stem)
