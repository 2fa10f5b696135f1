# Tests of the runtime, where it is built. Those that need several processes are started by mpirun,
# as a person would start them; ranks share the cores of the machine and give way while they wait.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rankwright/runtime/*_test.cc
  ${PROJECT_SOURCE_DIR}/rankwright/runtime/*/*_test.cc)
add_executable(runtime_test ${sources} ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/layouts.cc)
target_link_libraries(runtime_test PRIVATE rankwright_runtime rapidcheck GTest::gmock_main
  rankwright_flags)
target_compile_options(runtime_test PRIVATE $<$<CONFIG:Release>:-O1>)
target_compile_definitions(runtime_test PRIVATE ${source_dir})
rankwright_add_gtest(runtime_test unit.runtime 1)

add_executable(mpi_check ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/mpi_check.cc)
target_link_libraries(mpi_check PRIVATE rankwright_runtime rankwright_flags)

# MPI keeps memory until the process ends, so leak detection is off.
set(mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  ASAN_OPTIONS=detect_leaks=0)
set(mpirun ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
foreach(ranks 1 2 3 4 8)
  add_test(NAME runtime.mpi_${ranks} COMMAND ${mpirun} -n ${ranks} $<TARGET_FILE:mpi_check>)
  set_tests_properties(runtime.mpi_${ranks} PROPERTIES ENVIRONMENT "${mpi_environment}"
    TIMEOUT 120)
endforeach()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME runtime.rank_leaves COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/rank_leaves_test.py ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:mpi_check>)
set_tests_properties(runtime.rank_leaves PROPERTIES ENVIRONMENT "${mpi_environment}" TIMEOUT 100)

# Every layout against one process: a part of the matrix in few steps for every change, in more steps at
# night; the whole matrix is scripts/parity.
add_executable(parity_check ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/parity_check.cc
  ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/layouts.cc)
target_link_libraries(parity_check PRIVATE rankwright_runtime rankwright_flags)
foreach(ranks 1 2 4 8)
  add_test(NAME runtime.parity_${ranks}
    COMMAND ${mpirun} -n ${ranks} $<TARGET_FILE:parity_check> --steps 3)
  add_test(NAME runtime.lora_parity_${ranks}
    COMMAND ${mpirun} -n ${ranks} $<TARGET_FILE:parity_check> --lora --steps 3)
  add_test(NAME runtime.frozen_parity_${ranks}
    COMMAND ${mpirun} -n ${ranks} $<TARGET_FILE:parity_check> --frozen --steps 3)
  add_test(NAME runtime.long_parity_${ranks}
    COMMAND ${mpirun} -n ${ranks} $<TARGET_FILE:parity_check>)
  set_tests_properties(runtime.parity_${ranks} runtime.lora_parity_${ranks}
    runtime.frozen_parity_${ranks} runtime.long_parity_${ranks} PROPERTIES
    ENVIRONMENT "${mpi_environment}" TIMEOUT 1200 PROCESSORS 2)
  set_tests_properties(runtime.long_parity_${ranks} PROPERTIES LABELS nightly)
endforeach()
# Two minutes each; 4 ranks have TP, PP and DP.
set_tests_properties(runtime.lora_parity_8 runtime.frozen_parity_8 PROPERTIES LABELS nightly)

# Compares the memory estimate with the memory of the tensors.
add_executable(memory_check ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/memory_check.cc
  ${PROJECT_SOURCE_DIR}/rankwright/runtime/checks/layouts.cc)
target_link_libraries(memory_check PRIVATE rankwright_runtime rankwright_flags)
add_test(NAME runtime.memory COMMAND ${mpirun} -n 8 $<TARGET_FILE:memory_check>)
set_tests_properties(runtime.memory PROPERTIES ENVIRONMENT "${mpi_environment}" TIMEOUT 1200
  PROCESSORS 2 LABELS nightly)
