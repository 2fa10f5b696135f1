"""transformers builds every model whose config.json we read, on the meta device: its parameters are ours."""

import json
import pathlib

import judges
import pytest
import rankwright
import torch
import transformers

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"
CONFIGS = sorted((DATA / "hf").glob("*.json"))  # published models
TYPES = sorted((DATA / "hf_types").glob("*.json"))  # small invented ones, at least one per model type


def count_parameters(config):
    """Returns the parameters of the model that transformers builds; tied ones count once. The router's correction
    bias counts as one: transformers keeps it as a buffer, and checkpoints have it."""
    config = dict(config)
    made = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
    with torch.device("meta"):
        if "vision_config" in config:
            model = transformers.AutoModelForImageTextToText.from_config(made)
        elif "audio_config" in config:
            model = transformers.AutoModelForSeq2SeqLM.from_config(made)
        else:
            model = transformers.AutoModelForCausalLM.from_config(made)
    biases = [b for name, b in model.named_buffers() if name.endswith("e_score_correction_bias")]
    return sum(tensor.numel() for tensor in [*model.parameters(), *biases])


@pytest.fixture(scope="module")
def counted(tally):
    return tally("transformers", judges.version("transformers"), "parameters of models, on the meta device")


@pytest.mark.parametrize("file", CONFIGS + TYPES, ids=lambda file: file.stem)
def test_parameters_are_those_of_transformers(counted, file):
    plan = {"model": str(file), "world_size": 1, "parallelism": {}}
    ours = rankwright.explain(plan).data["model"]["parameters"]["total"]
    counted.case()
    counted.same(ours, count_parameters(json.loads(file.read_text("utf-8"))), file.stem)


def test_table_of_parameters_is_that_of_transformers(counted):
    """tests/data/hf_types/parameters.csv, which the unit tests compare with, states what transformers builds."""
    rows = [line.split(",") for line in (DATA / "hf_types" / "parameters.csv").read_text("utf-8").splitlines()]
    table = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
    assert sorted(table) == sorted(file.stem for file in TYPES)
    counted.case()
    for file in TYPES:
        counted.same(table[file.stem], count_parameters(json.loads(file.read_text("utf-8"))), f"row {file.stem}")
