"""The forward pass of transformers' vision and audio encoders on fake tensors: the bytes that a layer keeps for
backward, against the activations that `job.images` and `job.clips` add to the estimate.

An encoder is built with 2 and with 4 layers; all are equal, so the difference is that of two layers.
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
    "internvl": {"model_type": "internvl_vision", "hidden_size": 1024, "intermediate_size": 4096,
                 "num_attention_heads": 16, "image_size": [448, 448], "patch_size": [14, 14]},
    "qwen2_audio": {"model_type": "qwen2_audio_encoder", "d_model": 1280, "encoder_ffn_dim": 5120,
                    "encoder_attention_heads": 20, "num_mel_bins": 128, "max_source_positions": 1500},
    "voxtral": {"model_type": "voxtral_encoder", "hidden_size": 1280, "intermediate_size": 5120,
                "num_attention_heads": 20, "num_mel_bins": 128, "max_source_positions": 1500},
}  # fmt: skip
IMAGES = 2


def is_audio(encoder):
    return "num_mel_bins" in encoder


def make_input(encoder):
    if is_audio(encoder):
        frames = 2 * encoder["max_source_positions"]
        return {"input_features": torch.empty(IMAGES, encoder["num_mel_bins"], frames, dtype=torch.bfloat16)}
    size = encoder["image_size"]
    height, width = size if isinstance(size, list) else (size, size)
    return {"pixel_values": torch.empty(IMAGES, 3, height, width, dtype=torch.bfloat16)}


def measure(vision, layers):
    """Returns the bytes that an encoder of `layers` layers keeps for its backward pass."""
    values = vision | {"num_hidden_layers": layers}
    made = transformers.AutoConfig.for_model(values.pop("model_type"), **values)
    made._attn_implementation = finetune_memory_test.KERNEL
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(made, dtype=torch.bfloat16)
    with FakeTensorMode(allow_non_fake_inputs=True):
        model.to_empty(device="cpu")
        model.eval()  # Qwen2-Audio draws a number per layer in training, which fake tensors do not have
        images = make_input(vision)
        gc.collect()
        live = finetune_memory_test.Live([*model.parameters(), *model.buffers(), *images.values()])
        with live:
            out = model(**images)
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
                                "audio_config" if is_audio(vision) else "vision_config":
                                vision | {"num_hidden_layers": layers}}), "utf-8")  # fmt: skip
    plan = finetune_memory_test.make("llama-3.1-8b", {"master_dtype": "bf16", "grad_dtype": "bf16"}, 4096, 1, "none")
    plan["model"] = str(file)

    def estimate(images):
        job = plan["job"] | ({"clips" if is_audio(vision) else "images": images} if images else {})
        entries = rankwright.explain(plan | {"job": job}).data["estimate"]["memory"]["entries"]
        return {one["entry"]: one["bytes"] for one in entries}["activations"]

    ours = (estimate(IMAGES) - estimate(0)) / layers
    theirs = (measure(vision, 4) - measure(vision, 2)) / 2
    error = finetune_memory_test.off(ours, theirs)
    print(f"{kind}: {ours:.0f} bytes per layer, transformers {theirs:.0f}: {error:+.1%}")
    kept = tally("transformers", finetune_memory_test.VERSION, "activations of encoders, per layer")
    kept.case()
    kept.same(abs(error) < 0.05, True, f"{kind}: {ours:.0f}, {theirs:.0f}")
