"""Plans as a path, a text, a dict or a result; models and clusters as names, paths or dicts."""

import json
import os
import pathlib
import tempfile
import unittest

import rankwright
from checkout import COURSE, DATA, EXAMPLES, SMALL

SHAPES = {"name": "mine", "architecture": "llama", "hidden": 4096, "layers": 32, "heads": 32,
          "kv_heads": 8, "ffn": 14336, "vocab": 128256}  # fmt: skip
CLUSTER = {
    "device": {"name": "mine", "memory": "80 GB", "memory_bandwidth": "2 TB/s", "bf16": "400 TFLOP/s"},
    "levels": [
        {"name": "nvlink", "arity": 8, "bandwidth": "450 GB/s", "latency": "2 us"},
        {"name": "infiniband", "arity": 4, "bandwidth": "50 GB/s", "latency": "5 us"},
    ],
}


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_path_text_and_dict_give_the_same_result(self):
        path = EXAMPLES / "course-64.yaml"
        expected = rankwright.explain(path).data
        for plan in (str(path), path.read_text("utf-8"), COURSE, json.dumps(COURSE)):
            self.assertEqual(rankwright.explain(plan).data["estimate"], expected["estimate"])

    def test_results_are_accepted_as_plans(self):
        planned = rankwright.plan(**SMALL)
        explained = rankwright.explain(planned)
        # Written to a file and read again: the same estimate to the last bit.
        self.assertEqual(explained.step_seconds, planned.step_seconds)
        self.assertEqual(explained.mfu, planned.mfu)
        self.assertEqual(planned.best.mfu.megatron_causal, planned.mfu)

    def test_several_gpu_counts_best_is_the_chosen_one(self):
        planned = rankwright.plan(**SMALL, gpus=(8, 16))
        self.assertEqual(planned.best.gpus, planned.chosen_gpus)
        self.assertEqual(planned.step_seconds, planned.best.step_seconds)
        self.assertEqual(planned.mfu, planned.best.mfu)
        self.assertEqual(rankwright.explain(planned).world, planned.chosen_gpus)
        none = rankwright.plan(model="llama-3.1-405b", cluster="dgx-h100 x 2", gpus=(8, 16))
        self.assertEqual((none.best, none.step_seconds, none.mfu), (None, None, None))

    def test_saved_plans_are_read_again(self):
        planned = rankwright.plan(**SMALL)
        planned.save(self.folder / "plan.yaml")
        self.assertEqual(
            rankwright.explain(self.folder / "plan.yaml").data, rankwright.explain(planned).data
        )

    def test_compare_accepts_two_texts(self):
        chunks = {**COURSE, "parallelism": {**COURSE["parallelism"], "virtual_stages": 5}}
        compared = rankwright.compare(COURSE, chunks)
        self.assertEqual((compared.a.name, compared.b.name), ("<a>", "<b>"))
        self.assertEqual(compared.verdict.faster, "b")
        against = rankwright.explain(COURSE, sensitivity=True, against=chunks)
        self.assertIn("schema", against.data)

    def test_a_sweep_is_a_pair(self):
        for wrong in (("tp",), ("tp", [1], [2]), (1, 2)):
            with self.assertRaisesRegex(ValueError, "a sweep is a pair"):
                rankwright.explain(COURSE, sweep=wrong)
        with self.assertRaisesRegex(rankwright.Error, "unknown sweep key"):
            rankwright.explain(COURSE, sweep=("banana", [1]))

    def test_a_path_is_never_a_flag_or_standard_input(self):
        os.chdir(self.folder)
        for name in ("-", "--json", "-o"):
            pathlib.Path(name).write_text(json.dumps(COURSE), "utf-8")
            self.assertEqual(rankwright.explain(name).world, 64)
            with self.assertRaises(rankwright.Error):
                rankwright.plan(model=name, cluster="dgx-h100 x 2")

    def test_file_names_need_not_be_utf8(self):
        name = os.fsdecode(b"\xff.yaml")
        (self.folder / name).write_text(json.dumps(COURSE), "utf-8")
        self.assertEqual(rankwright.explain(self.folder / name).world, 64)

    def test_text_beyond_ascii_is_kept(self):
        plan = {**COURSE, "name": "Größe 数 \U0001f600"}
        self.assertEqual(rankwright.check(plan).errors, [])

    def test_other_types_raise(self):
        for plan in (17, None, [COURSE], object()):
            with self.assertRaises(TypeError):
                rankwright.check(plan)


class ModelsAndClusters(unittest.TestCase):
    def test_shapes_of_a_model(self):
        planned = rankwright.plan(model=SHAPES, cluster="dgx-h100 x 2", global_batch=64, seq=8192)
        self.assertEqual(planned.model.name, "mine")
        self.assertEqual(planned.model.parameters.total, 8030261248)  # as llama-3.1-8b
        self.assertEqual(rankwright.explain(COURSE, model=SHAPES).model.layers, 32)
        with self.assertRaises(TypeError):
            rankwright.explain(EXAMPLES / "course-64.yaml", model=SHAPES)

    def test_hugging_face_config(self):
        config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                  "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
                  "tie_word_embeddings": False}  # fmt: skip
        explained = rankwright.explain(EXAMPLES / "course-64.yaml", model=config)
        self.assertEqual(explained.model.parameters.total, 8030261248)

    def test_cluster(self):
        planned = rankwright.plan(model="llama-3.1-8b", cluster=CLUSTER, global_batch=64, seq=4096)
        self.assertEqual(planned.cluster.devices, 32)
        self.assertEqual([level.name for level in planned.cluster.levels], ["nvlink", "infiniband"])

    def test_imported_models_and_clusters_are_accepted(self):
        topology = DATA / "import/topo-nvswitch-8.txt"
        cluster = rankwright.import_(topology, device="h100-sxm", hosts=2)
        model = rankwright.import_(DATA / "hf/llama-3.1-8b.json")
        self.assertEqual((cluster.kind, model.kind), ("cluster", "model"))
        planned = rankwright.plan(model=model, cluster=cluster, global_batch=64, seq=8192)
        self.assertEqual(planned.cluster.devices, 16)
        self.assertEqual(planned.model.parameters.total, 8030261248)
        course = {**COURSE, "model": "llama-3.1-70b", "reading_note": "数"}
        self.assertEqual(rankwright.explain(course, model=model).model.layers, 32)
        for wrong in ({"model": cluster}, {"cluster": model}, {"cluster": rankwright.import_(COURSE)}):
            with self.assertRaisesRegex(TypeError, "the imported file is a"):
                rankwright.explain(COURSE, **wrong)

    def test_a_range_has_two_ends(self):
        for wrong in ((8,), (8, 16, 64), [8, 16, 64], ()):
            with self.assertRaisesRegex(ValueError, r"as \(8, 64\)"):
                rankwright.plan(**SMALL, gpus=wrong)

    def test_integers_of_other_libraries_are_accepted(self):
        class Whole:  # like numpy.int64
            def __init__(self, value):
                self.value = value

            def __index__(self):
                return self.value

        planned = rankwright.plan(**SMALL, tp=Whole(2), gpus=(Whole(8), Whole(16)))
        self.assertEqual([row.gpus for row in planned.counts], [8, 16])
        self.assertEqual(planned.best.plan.tp, 2)
        with self.assertRaisesRegex(TypeError, "not object"):
            rankwright.plan(**SMALL, tp=object())

    def test_values_of_flags(self):
        planned = rankwright.plan(**SMALL, tokens=15e12, days=1000, price=2.1, tuned=True)
        self.assertEqual(planned.training.tokens, 15e12)
        out = rankwright.plan(model="llama-3.1-8b", cluster="dgx-h100 x 4", exclude_nodes=[0, 2])
        self.assertEqual((out.hosts.out, out.hosts.left), (2, 2))
        self.assertIn("--tuned=false", rankwright.plan(**SMALL, tuned=False).plan)
        self.assertNotIn("--no-tp", rankwright.plan(**SMALL, no_tp=False).plan)
        with self.assertRaises(ValueError):
            rankwright.plan(**{**SMALL, "model": ""})

    def test_variables_of_a_script(self):
        script = (
            "torchrun --nnodes $NNODES --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size ${TP:-1} "
            "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
            "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --bf16\n"
        )
        made = rankwright.import_(script, from_="megatron", set_={"NNODES": 4, "TP": 2})
        self.assertIn("world_size: 32\n", made.plan)
        self.assertIn("tp_size: 2\n", made.plan)


if __name__ == "__main__":
    unittest.main()
