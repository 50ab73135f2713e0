package provider_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// offered are the names that the provider itself lists, without its prefix, by kind.
func offered(t *testing.T) map[string][]string {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"resources":           short(maps.Keys(schema.ResourceSchemas)),
		"data sources":        short(maps.Keys(schema.DataSourceSchemas)),
		"ephemeral resources": short(maps.Keys(schema.EphemeralResourceSchemas)),
		"actions":             short(maps.Keys(schema.ActionSchemas)),
		"list resources":      short(maps.Keys(schema.ListResourceSchemas)),
	}
}

func short(names func(func(string) bool)) []string {
	var all []string
	for name := range names {
		all = append(all, strings.TrimPrefix(name, "agentyard_"))
	}
	slices.Sort(all)
	return all
}

var listedRow = regexp.MustCompile(`(?m)^\| (resources|data sources|ephemeral resources|actions|list resources) \| (.*) \|$`)

// TestREADME_listsWhatIsOffered compares the table of the README with the provider's own listing.
func TestREADME_listsWhatIsOffered(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Resources and data sources\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string][]string{}
	for _, row := range listedRow.FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(row[2], ", ") {
			listed[row[1]] = append(listed[row[1]], strings.Trim(name, "`"))
		}
	}
	for kind, names := range offered(t) {
		if !slices.Equal(listed[kind], names) {
			t.Errorf("%s: the README lists\n%v\nand the provider offers\n%v", kind, listed[kind], names)
		}
	}
	if len(listed) != 5 {
		t.Errorf("the README lists %d kinds", len(listed))
	}
}
