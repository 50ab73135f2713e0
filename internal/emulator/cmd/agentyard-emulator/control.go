package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// control sends one request to the control API of the emulator that the environment names, and prints its response.
func control(ctx context.Context, args []string, stdout io.Writer) error {
	address, key := os.Getenv(envBaseURL), os.Getenv(envAPIKey)
	switch {
	case len(args) < 2 || len(args) > 3:
		return errors.New("usage: control METHOD PATH [BODY], for example: control POST clock '{\"advance\":\"30d\"}'")
	case address == "" || key == "":
		return fmt.Errorf("set %s and %s to those of a running emulator", envBaseURL, envAPIKey)
	}
	req, err := http.NewRequestWithContext(ctx, args[0], address+"/_emulator/"+args[1], strings.NewReader(strings.Join(args[2:], "")))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", args[0], args[1], resp.Status, strings.TrimSpace(string(body)))
	}
	_, err = stdout.Write(body)
	return err
}
