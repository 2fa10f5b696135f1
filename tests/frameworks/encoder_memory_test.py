"""The forward pass of transformers' vision encoders on fake tensors: the bytes that a layer keeps for backward, against
the activations that `job.images` adds to the estimate.

An encoder is built with 2 and with 4 layers; all are equal, so the difference is that of two layers. Not compared:
InternVL, whose scales of residuals keep 4 bytes per element more (11 % of a layer), which is not estimated.
"""

import gc
import json

import finetune_memory_test
import pytest
import rankwright
import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode

TEXT = {"model_type": "qwen2", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 512,
        "max_position_embeddings": 8192}  # fmt: skip
ENCODERS = {
    "llava": {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "hidden_act": "gelu",
              "num_attention_heads": 16, "image_size": 336, "patch_size": 14},
    "gemma3": {"model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304,
               "num_attention_heads": 16, "image_size": 896, "patch_size": 14, "vision_use_head": False},
}  # fmt: skip
IMAGES = 2


def measure(vision, layers):
    """Returns the bytes that an encoder of `layers` layers keeps for its backward pass."""
    values = vision | {"num_hidden_layers": layers}
    made = transformers.AutoConfig.for_model(values.pop("model_type"), **values)
    made._attn_implementation = finetune_memory_test.KERNEL
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(made, dtype=torch.bfloat16)
    side = vision["image_size"]
    with FakeTensorMode(allow_non_fake_inputs=True):
        model.to_empty(device="cpu")
        model.train()
        images = torch.empty(IMAGES, 3, side, side, dtype=torch.bfloat16)
        gc.collect()
        live = finetune_memory_test.Live([*model.parameters(), *model.buffers(), images])
        with live:
            out = model(pixel_values=images)
            loss = out.last_hidden_state.sum()
            kept = live.now
        del out, loss
    return kept


@pytest.mark.parametrize("kind", ENCODERS)
def test_activations_of_encoders(tally, tmp_path, kind):
    vision, layers = ENCODERS[kind], 24
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"model_type": kind, "text_config": TEXT if kind != "gemma3" else
                                TEXT | {"model_type": "gemma3_text", "head_dim": 64},
                                "vision_config": vision | {"num_hidden_layers": layers}}), "utf-8")  # fmt: skip
    plan = finetune_memory_test.make("llama-3.1-8b", {"master_dtype": "bf16", "grad_dtype": "bf16"}, 4096, 1, "none")
    plan["model"] = str(file)

    def estimate(images):
        job = plan["job"] | ({"images": images} if images else {})
        entries = rankwright.explain(plan | {"job": job}).data["estimate"]["memory"]["entries"]
        return {one["entry"]: one["bytes"] for one in entries}["activations"]

    ours = (estimate(IMAGES) - estimate(0)) / layers
    theirs = (measure(vision, 4) - measure(vision, 2)) / 2
    error = finetune_memory_test.off(ours, theirs)
    print(f"{kind}: {ours:.0f} bytes per layer, transformers {theirs:.0f}: {error:+.1%}")
    kept = tally("transformers", finetune_memory_test.VERSION, "activations of vision encoders, per layer")
    kept.case()
    kept.same(abs(error) < 0.05, True, f"{kind}: {ours:.0f}, {theirs:.0f}")
