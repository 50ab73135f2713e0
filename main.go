// Command terraform-provider-agentyard serves the Terraform provider for Agentyard.
package main

import (
	"flag"
	"log"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debugger := flag.Bool("debug", false, "serve for a debugger, such as delve; all provider blocks share the configuration of the last one")
	flag.Parse()
	tune()

	var options []tf6server.ServeOpt
	if *debugger {
		options = append(options, tf6server.WithManagedDebug())
	}
	server, err := provider.NewServer(version)
	if err != nil {
		log.Fatal(err)
	}
	err = tf6server.Serve("registry.terraform.io/agentyard/agentyard", func() tfprotov6.ProviderServer { return server }, options...)
	if err != nil {
		log.Fatal(err)
	}
}

// logLevels are the variables from which the plugin libraries take their log levels.
var logLevels = []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_AGENTYARD"}

// ballast counts as memory in use but is never written, so it occupies no memory of the machine on Unix. Windows would reserve it.
var ballast []byte

const (
	ballastSize = 256 << 20
	// gcPercent is the garbage that is allowed before a collection, as a percentage of the memory in use, with ballast.
	gcPercent = 50
)

// tune halves the processor time of a plan with a thousand objects. The ballast allows 128 MB of garbage even if little
// memory is in use. There is no memory limit: near a limit, the collector takes most of the processor time.
func tune() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" && runtime.GOOS != "windows" {
		debug.SetGCPercent(gcPercent)
		ballast = make([]byte, ballastSize)
	}
	// Without TF_LOG, the plugin libraries would still write every trace line, which Terraform parses and drops.
	for _, name := range append([]string{"TF_LOG", "TF_LOG_PROVIDER"}, logLevels...) {
		if os.Getenv(name) != "" {
			return
		}
	}
	for _, name := range logLevels {
		_ = os.Setenv(name, "ERROR") // It fails only for names that no variable can have.
	}
}
