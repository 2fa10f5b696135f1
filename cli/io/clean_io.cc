#include "cli/io/clean_io.h"

#include <new>
#include <ostream>

#include "cli/io/clean_buffer.h"

namespace rankwright::cli {

int with_clean_io(const Io& io, const std::function<int(const Io&)>& verb) {
  CleanBuffer clean_out(io.out, io.color ? KeptEscapes::color : KeptEscapes::none);
  CleanBuffer clean_err(io.err,
                        io.err_terminal ? KeptEscapes::color_and_progress : KeptEscapes::none);
  std::ostream out(&clean_out), err(&clean_err);
  err.tie(&out);
  err << std::unitbuf;
  const Io clean = {.in = io.in,
                    .out = out,
                    .err = err,
                    .color = io.color,
                    .width = io.width,
                    .err_terminal = io.err_terminal,
                    .log_progress = io.log_progress,
                    .may_exec = io.may_exec,
                    .collect_options = io.collect_options,
                    .bytes_out = &io.out};
  try {
    return verb(clean);
  } catch (const std::bad_alloc&) {
    err << "rankwright: out of memory\n"
           "  help: use a smaller input, raise the limit (ulimit -v), or add memory\n";
    return kOutOfMemory;
  }
}

}  // namespace rankwright::cli
