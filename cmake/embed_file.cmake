# cmake -DINPUT=file -DOUTPUT=file.cc -DSYMBOL=kName -P embed_file.cmake
# Writes a source file in which the bytes of INPUT are
#     namespace rankwright::report { extern const std::string_view kName; }
# when the project is built, of what is made then; embed.cmake does it for data files when the
# project is configured. Bytes and not a string literal: compilers need not take one of more than
# 65,536 characters, and clang says so.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include <string_view>
namespace rankwright::report {
namespace {
constexpr char kBytes[] = {
@bytes@0};
}
extern const std::string_view @SYMBOL@;
const std::string_view @SYMBOL@{kBytes, sizeof(kBytes) - 1};
}  // namespace rankwright::report
]])
