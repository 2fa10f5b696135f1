// Settings that only the code of a training program states: its adapters (code_adapters.cc), the
// model and the format that it is loaded in (code_model.cc), the arguments of its trainer and the
// defaults of its options (code_settings.cc). They are added to the flags of the script where these
// state nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/import/syntax/python_text.h"
#include "rankwright/import/trainer/trainer_parts.h"
#include "rankwright/import/trainer/trainer_program.h"

namespace rankwright::importer {

/// TRL's trainers. Their arguments name the model, and state lengths in older versions.
inline constexpr std::string_view kTrainers[] = {"GRPOTrainer", "SFTTrainer", "DPOTrainer",
                                                 "ORPOTrainer"};

inline constexpr std::string_view kLengthKeys[] = {"max_seq_length", "max_length", "max_seq_len",
                                                   "max_completion_length"};

/// The settings that the code decides, and where they are reported.
class CodeSettings {
 public:
  CodeSettings(ScriptFlags& flags, const TrainerProgram& program, PlanFile& plan)
      : flags_(flags),
        program_(program),
        plan_(plan),
        statements_(split_statements(program.code())) {}

  /// Drops a switch for Liger's kernels that the program has of its own and never applies.
  void drop_unused_kernels();

  /// Adds the adapters of the code, or what no flag states about them.
  void add_adapters();

  /// Adds the arguments that the code gives to the trainer, where no flag states them.
  void add_arguments();

  /// Adds the defaults of the program's options, where no flag decides the same.
  void add_defaults();

  /// Adds the defaults of the releases that the repository pins: transformers computes attention
  /// unfused before 4.36 (Gemma 2: before 4.48), and TRL recomputes since 0.22.
  void add_pinned_defaults(const FileReader& files);

  /// Reports that the program freezes a part of the model, which is estimated as trained unless
  /// adapters are.
  void report_frozen();

  /// Adds the model that the program loads, and the format of its weights, if no flag states them.
  void add_loaded_model();

 private:
  /// PEFT's preparation of a model turns recomputation on if the weights have few bits, and casts
  /// other weights of 16 bits to fp32.
  void add_preparation(std::vector<std::string>& added);

  /// Adds the length that the program cuts its texts to, `tokenizer(text, truncation=True,
  /// max_length=512)`, if nothing else states one: the largest of them.
  void add_tokenized_length(std::vector<std::string>& added);

  /// Adds the method of the class of arguments that the program constructs or parses.
  void add_method();

  /// Adds adapters that the program loads to train them further. The name of their folder may state
  /// the rank.
  void continue_adapters();

  /// Adds the attributes of the arguments that the code sets: `training_args.bf16 = True`.
  void add_assigned(std::vector<std::string>& added);

  /// Returns whether the code assigns a map of its own to a name, and not a part of another.
  bool states_map(std::string_view name) const;

  /// Adds the arguments that the code collects for `call`: `kwargs = dict(bf16=True)`,
  /// `{"bf16": True}`. If the call takes some by their names, `**kwargs`, others are of other
  /// calls.
  void add_collected(std::string_view call_text, std::vector<std::string>& added);

  /// Returns the named arguments of the first call of `name`, also those of a map: `**LORA`.
  std::vector<PythonArgument> list_call_arguments(std::string_view name) const;

  /// Returns the call that makes adapters, and its arguments.
  std::pair<std::string_view, std::vector<PythonArgument>> find_adapters() const;

  /// Returns whether the code makes adapters: `get_peft_model(model, lora)`, or `peft_config=lora`
  /// for TRL's trainer. Under a condition that asks for adapters by an option of unknown value, it
  /// is taken for one that does not.
  bool applies_adapters() const;

  /// Returns whether `peft_config=` is given a name, or a choice that is known to be one.
  bool passes_config(std::string_view text) const;

  /// Returns whether a statement is under a condition on a name of adapters, which is an option:
  /// conditions that call functions ask for something else.
  bool asks_for_adapters(std::size_t at) const;

  /// Returns whether any condition asks for adapters by an option.
  bool mentions_adapters() const;

  /// Returns whether the code loads the weights in few bits: `load_in_4bit=True`, under no
  /// condition or one that is known to hold.
  bool loads_in(std::string_view bits) const;

  /// Returns whether the code has one of the names outside its imports.
  bool calls_any(std::span<const std::string_view> names) const;

  /// Returns the format that the whole model is cast to, whatever the arguments are; empty if there
  /// is none: `model = model.bfloat16()`.
  std::string find_cast() const;

  /// Returns whether the program casts the parameters to fp32 before TRL's trainer adds adapters.
  bool casts_before_adapters() const;

  /// Returns whether a statement is under a condition.
  bool is_conditional(std::size_t at) const;

  /// Returns whether a flag abbreviates this option, as argparse allows.
  bool is_abbreviated(std::string_view option) const;

  /// Returns what the stated flags decide, as keys of a plan.
  std::vector<std::string_view> list_stated() const;

  /// Returns whether a flag, or the default of an option, turns adapters on.
  bool turns_adapters_on() const;

  void add_resolved(std::string_view key, std::string_view expression,
                    std::vector<std::string>& added);

  /// Leaves a setting open that an expression states whose value is not known.
  void open_setting(std::string_view key, std::string_view expression);

  /// Returns the name of the model that a flag states; empty if none does.
  std::string stated_model() const;

  void report(const std::vector<std::string>& added, const std::string& source);

  void assume(std::string text);

  ScriptFlags& flags_;
  const TrainerProgram& program_;
  PlanFile& plan_;
  std::vector<PythonStatement> statements_;  // of the program
};

}  // namespace rankwright::importer
