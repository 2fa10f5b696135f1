# Checks that the documents show what the program prints: whole commands of real size, up to two minutes of
# processor time each.
set(check_docs ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_docs
  $<TARGET_FILE:rankwright_exe>)
add_test(NAME docs.commands COMMAND ${check_docs})
set_tests_properties(docs.commands PROPERTIES TIMEOUT 1800)
foreach(document right writes)
  add_test(NAME docs.checker_accepts_${document}
    COMMAND ${check_docs} ${CMAKE_CURRENT_SOURCE_DIR}/data/docs/${document}.md)
endforeach()
foreach(fault wrong short fails)
  add_test(NAME docs.checker_refuses_${fault}
    COMMAND ${check_docs} ${CMAKE_CURRENT_SOURCE_DIR}/data/docs/${fault}.md)
  set_tests_properties(docs.checker_refuses_${fault} PROPERTIES
    PASS_REGULAR_EXPRESSION "commands run: 1, .* that print something else: 1")
endforeach()

# The plans of known problems are those that practice suggests; scripts/check_sanity runs the long ones, too.
add_test(NAME docs.sanity COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_sanity
  $<TARGET_FILE:rankwright_exe> --fast)
set_tests_properties(docs.sanity PROPERTIES TIMEOUT 600)

# Links lead somewhere; the pages that are made from tables are those that the tables make.
add_test(NAME docs.links
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_links_test.py)
add_test(NAME docs.reference COMMAND ${Python3_EXECUTABLE}
  ${PROJECT_SOURCE_DIR}/scripts/make_reference $<TARGET_FILE:rankwright_exe> --check)
set_tests_properties(docs.reference PROPERTIES TIMEOUT 300)
# Distributions install jsonschema, YAML and mkdocs for their own Python, which need not be the first.
find_program(RANKWRIGHT_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT RANKWRIGHT_SYSTEM_PYTHON)
  set(RANKWRIGHT_SYSTEM_PYTHON ${Python3_EXECUTABLE})
endif()
add_test(NAME docs.schemas COMMAND ${RANKWRIGHT_SYSTEM_PYTHON}
  ${CMAKE_CURRENT_SOURCE_DIR}/reference_test.py $<TARGET_FILE:rankwright_exe>)
set_tests_properties(docs.schemas PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
find_program(RANKWRIGHT_MKDOCS mkdocs)
if(RANKWRIGHT_MKDOCS)
  set(reports_by)
  if(RANKWRIGHT_PAGE_BUILT)
    set(reports_by $<TARGET_FILE:rankwright_exe>)
  endif()
  add_test(NAME docs.site COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/site_test.py
    ${RANKWRIGHT_MKDOCS} ${CMAKE_BINARY_DIR}/site ${reports_by})
else()
  message(STATUS "Test of the documentation site: none, no mkdocs found")
endif()

# The pictures of the documents are what their commands draw.
add_test(NAME docs.pictures COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/make_pictures
  $<TARGET_FILE:rankwright_exe> --check)
set_tests_properties(docs.pictures PROPERTIES TIMEOUT 300)
