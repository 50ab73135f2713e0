package wiki

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// WikiRunDataSource is the data source agentyard_wiki_run.
var WikiRunDataSource = crud.DataSource{
	Name:        "wiki_run",
	Description: "Returns a wiki run that the API key can see." + crud.AnyKey + crud.AssumedFormat,
	Attributes: wikiRunData.DataSource(map[string]schema.Attribute{
		"id": crud.RequiredNotBlank(wikiRunResults["id"].Text, "Set it to the ID of a wiki run."),
	}),
	Verb: "read", Object: "wiki run", Options: apierror.Options{apierror.Advice{http.StatusForbidden: switchedOff}},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiRunDataModel) error {
		// List responses do not include the video.
		found, err := c.Wikis.GetUncached(ctx, m.ID.ValueString())
		if transport.IsNotFound(err) {
			return &crud.ObjectError{At: path.Root("id"), Summary: "Wiki run not found", Detail: fmt.Sprintf("Wiki run %q was not found, or the provider's API key cannot see it. Check the ID. If the run is private, use its owner's API key.", m.ID.ValueString())}
		}
		if err != nil {
			return err
		}
		return crud.Failure(wikiRunData.Into(ctx, found, m))
	}),
}
