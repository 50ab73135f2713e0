package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudoterminal.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	return keyboard, screen
}

// Ctrl-C reaches the command from the terminal. Terraform would drop everything if it came from the emulator once more.
func TestCommand_aTerminalsInterruptComesOnce(t *testing.T) {
	t.Parallel()
	keyboard, screen := terminal(t)
	cmd := emulatorCommand(t, t.TempDir(), "--", "SELF", "signals")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Stdin = screen
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []string
	next := func() { lines.Scan(); said = append(said, lines.Text()) }
	next()
	want := []string{"ready"}
	for range 8 {
		if _, err := keyboard.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		next()
		want = append(want, "interrupt")
	}
	// A program's interrupt cannot be told from the terminal's; its SIGTERM always arrives. The emulator takes signals in
	// turn, so that one it passed on would come before that.
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	for lines.Scan() {
		said = append(said, lines.Text())
	}
	if want = append(want, "terminated"); !slices.Equal(said, want) {
		t.Errorf("the command says %s, want %s", strings.Join(said, ", "), strings.Join(want, ", "))
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v, want the command's exit code 3", err)
	}
}
