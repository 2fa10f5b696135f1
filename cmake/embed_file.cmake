# cmake -DINPUT=file -DOUTPUT=file.cc -DSYMBOL=kName -P embed_file.cmake
# Writes a source file that defines the bytes of INPUT as
#     namespace rankwright::report { extern const std::string_view kName; }
# at build time, for generated files; embed.cmake does the same for data files at configure time.
# Writes bytes instead of a string literal, because compilers need not support literals of more than
# 65,536 characters, and clang warns about them.
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
