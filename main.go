// Command terraform-provider-agentyard serves the Terraform provider for Agentyard.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve for a debugger, such as delve")
	flag.Parse()

	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: "registry.terraform.io/agentyard/agentyard",
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
