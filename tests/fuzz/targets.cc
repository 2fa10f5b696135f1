#include "tests/fuzz/targets.h"

int fuzz_accelerate(const std::uint8_t* data, std::size_t size);
int fuzz_automodel(const std::uint8_t* data, std::size_t size);
int fuzz_cluster(const std::uint8_t* data, std::size_t size);
int fuzz_csv(const std::uint8_t* data, std::size_t size);
int fuzz_deepspeed(const std::uint8_t* data, std::size_t size);
int fuzz_export(const std::uint8_t* data, std::size_t size);
int fuzz_fine_tuning(const std::uint8_t* data, std::size_t size);
int fuzz_gpt_neox(const std::uint8_t* data, std::size_t size);
int fuzz_hf_config(const std::uint8_t* data, std::size_t size);
int fuzz_host_list(const std::uint8_t* data, std::size_t size);
int fuzz_hwloc(const std::uint8_t* data, std::size_t size);
int fuzz_lab_answers(const std::uint8_t* data, std::size_t size);
int fuzz_layout(const std::uint8_t* data, std::size_t size);
int fuzz_llm_foundry(const std::uint8_t* data, std::size_t size);
int fuzz_maxtext(const std::uint8_t* data, std::size_t size);
int fuzz_maxtext_script(const std::uint8_t* data, std::size_t size);
int fuzz_megatron(const std::uint8_t* data, std::size_t size);
int fuzz_megatron_yaml(const std::uint8_t* data, std::size_t size);
int fuzz_nanotron(const std::uint8_t* data, std::size_t size);
int fuzz_nccl_tests(const std::uint8_t* data, std::size_t size);
int fuzz_nccl_topo(const std::uint8_t* data, std::size_t size);
int fuzz_nemo_rl(const std::uint8_t* data, std::size_t size);
int fuzz_nvidia_smi(const std::uint8_t* data, std::size_t size);
int fuzz_openrlhf(const std::uint8_t* data, std::size_t size);
int fuzz_plan(const std::uint8_t* data, std::size_t size);
int fuzz_recipe_python(const std::uint8_t* data, std::size_t size);
int fuzz_run_log(const std::uint8_t* data, std::size_t size);
int fuzz_run_trace(const std::uint8_t* data, std::size_t size);
int fuzz_runs(const std::uint8_t* data, std::size_t size);
int fuzz_schedule(const std::uint8_t* data, std::size_t size);
int fuzz_slurm_topology(const std::uint8_t* data, std::size_t size);
int fuzz_torchtitan(const std::uint8_t* data, std::size_t size);
int fuzz_torchtitan_python(const std::uint8_t* data, std::size_t size);
int fuzz_torchtitan_script(const std::uint8_t* data, std::size_t size);
int fuzz_trainer_program(const std::uint8_t* data, std::size_t size);
int fuzz_trainer_script(const std::uint8_t* data, std::size_t size);
int fuzz_verl(const std::uint8_t* data, std::size_t size);
int fuzz_worksheet(const std::uint8_t* data, std::size_t size);

namespace rankwright {
namespace {

// To fuzz another reader, add NAME_fuzz.cc, a folder of inputs corpus/NAME, and a row.
constexpr FuzzTarget kTargets[] = {
    {"accelerate", fuzz_accelerate},
    {"automodel", fuzz_automodel},
    {"cluster", fuzz_cluster},
    {"csv", fuzz_csv},
    {"deepspeed", fuzz_deepspeed},
    {"export", fuzz_export},
    {"fine_tuning", fuzz_fine_tuning},
    {"gpt_neox", fuzz_gpt_neox},
    {"hf_config", fuzz_hf_config},
    {"host_list", fuzz_host_list},
    {"hwloc", fuzz_hwloc},
    {"lab_answers", fuzz_lab_answers},
    {"layout", fuzz_layout},
    {"llm_foundry", fuzz_llm_foundry},
    {"maxtext", fuzz_maxtext},
    {"maxtext_script", fuzz_maxtext_script},
    {"megatron", fuzz_megatron},
    {"megatron_yaml", fuzz_megatron_yaml},
    {"nanotron", fuzz_nanotron},
    {"nccl_tests", fuzz_nccl_tests},
    {"nccl_topo", fuzz_nccl_topo},
    {"nemo_rl", fuzz_nemo_rl},
    {"nvidia_smi", fuzz_nvidia_smi},
    {"openrlhf", fuzz_openrlhf},
    {"plan", fuzz_plan},
    {"recipe_python", fuzz_recipe_python},
    {"run_log", fuzz_run_log},
    {"run_trace", fuzz_run_trace},
    {"runs", fuzz_runs},
    {"schedule", fuzz_schedule},
    {"slurm_topology", fuzz_slurm_topology},
    {"torchtitan", fuzz_torchtitan},
    {"torchtitan_python", fuzz_torchtitan_python},
    {"torchtitan_script", fuzz_torchtitan_script},
    {"trainer_program", fuzz_trainer_program},
    {"trainer_script", fuzz_trainer_script},
    {"verl", fuzz_verl},
    {"worksheet", fuzz_worksheet},
};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return kTargets; }

}  // namespace rankwright
