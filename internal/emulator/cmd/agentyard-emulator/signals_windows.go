package main

import "os"

// passedOn is the one signal there is; it is caught so that the emulator outlives the command.
var passedOn = []os.Signal{os.Interrupt}

// isFromTerminal is always so: a console interrupts all of its processes.
func isFromTerminal(os.Signal) bool { return true }
