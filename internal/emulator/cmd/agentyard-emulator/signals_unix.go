//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that the command gets when the emulator does.
var passedOn = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// isFromTerminal reports a signal that the command has got already, because a terminal sends those of its keys to all of
// its foreground process group. Terraform takes a second interrupt for an order to drop everything. Go does not tell who has
// sent a signal, so that one of a program is taken for the terminal's there.
func isFromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false // There is none.
	}
	defer func() { _ = terminal.Close() }()
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
