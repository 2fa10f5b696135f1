# The training frameworks judge Rankwright: tests/frameworks, run in the environment that
# scripts/make_frameworks_env makes. Each file is a process of its own, because two versions of a framework
# cannot be imported together. CI runs those without the label `nightly`, with ten random plans per comparison.
set(frameworks_python ${PROJECT_SOURCE_DIR}/build/frameworks/bin/python)
if(NOT EXISTS ${frameworks_python})
  message(STATUS "Tests by training frameworks: none, run scripts/make_frameworks_env to add them")
  return()
endif()
set(nightly_judges torchrun training zero_traffic)
file(GLOB judges CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/frameworks/*_test.py)
foreach(file ${judges})
  get_filename_component(name ${file} NAME)
  string(REPLACE "_test.py" "" name ${name})
  add_test(NAME frameworks.${name}
    COMMAND ${frameworks_python} -m pytest -q -p no:cacheprovider ${file})
  set(labels frameworks)
  if(name IN_LIST nightly_judges)
    list(APPEND labels nightly)
  endif()
  # pytest exits with 5 if a whole file is skipped: it needs a checkout that is not there.
  set_tests_properties(frameworks.${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 5 LABELS "${labels}"
    ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache;RANKWRIGHT=$<TARGET_FILE:rankwright_exe>")
endforeach()
