run "--num-layers 4 '--hidden-size ${A:-"${B:-'$(( 1 + 
`x $(y ${z
