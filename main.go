// Command terraform-provider-agentyard serves the Terraform provider for Agentyard.
package main

import (
	"flag"
	"log"
	"os"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debugger := flag.Bool("debug", false, "serve for a debugger, such as delve")
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

// memoryLimit, in bytes, is where the collector begins to give up speed for memory. It bounds what is garbage, not what
// is in use. The rest of 1 GiB is for what the runtime does not count and for what is made during a collection.
const memoryLimit = 768 << 20

// tune halves the processor time of a plan with a thousand objects. What a plan allocates is garbage at once, so
// collecting less often costs little memory; where it would cost much, the limit sets in. And without TF_LOG the
// libraries would still write every trace line, which Terraform parses and drops.
func tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	for _, name := range append([]string{"TF_LOG", "TF_LOG_PROVIDER"}, logLevels...) {
		if os.Getenv(name) != "" {
			return
		}
	}
	for _, name := range logLevels {
		_ = os.Setenv(name, "ERROR") // It fails only for names that no variable can have.
	}
}
