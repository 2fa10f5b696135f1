# cmake -DPROGRAM=rankwright -DFOLDER=man1 -P man_pages.cmake
# Writes rankwright.1, and rankwright-VERB.1 for every verb of the program.
function(write_page name)
  execute_process(COMMAND ${PROGRAM} help --man ${ARGN} OUTPUT_FILE ${FOLDER}/${name}.1
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z]+ " verbs "${text}")
foreach(verb IN LISTS verbs)
  string(STRIP "${verb}" verb)
  if(NOT verb STREQUAL "help")  # its text is in rankwright.1
    write_page(rankwright-${verb} ${verb})
  endif()
endforeach()
write_page(rankwright)
