package analytics

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
)

// NewProductivityDataSource returns the data source agentyard_analytics_productivity.
func NewProductivityDataSource() datasource.DataSource {
	return &crud.DataSource[daysModel]{
		Name:        "analytics_productivity",
		Description: "Returns the files, commits, and pull requests of the organization for each day." + managersOnly,
		Attributes:  attributes(productivityRow.DataSourceList("The days, ordered by `date`." + quietDays)),
		Validators:  []datasource.ConfigValidator{daysInOrder{}},
		Verb:        "read", Object: "analytics of productivity", Options: organizationOptions,
		Fetch: func(ctx context.Context, c *client.Client, m *daysModel) error {
			return fetch(c, m, productivityRow, func(days client.Days) (*client.Analytics[client.ProductivityRow], error) {
				return c.ProductivityAnalytics(ctx, days)
			})
		},
	}
}

var productivityRow = results.Record[client.ProductivityRow]{
	"date":            dateOfRow(func(r *client.ProductivityRow) string { return r.Date }),
	"files_created":   results.Float64("Number of files created.", func(r *client.ProductivityRow) *float64 { return r.FilesCreated }),
	"files_edited":    results.Float64("Number of files edited.", func(r *client.ProductivityRow) *float64 { return r.FilesEdited }),
	"by_extension":    results.List("Files by extension, ordered by `extension`.", extensionCount, func(r *client.ProductivityRow) []client.ExtensionCount { return r.ByExtension }),
	"by_language":     results.List("Files by language, ordered by `language`.", languageCount, func(r *client.ProductivityRow) []client.LanguageCount { return r.ByLanguage }),
	"git_commits":     results.Float64("Number of Git commits.", func(r *client.ProductivityRow) *float64 { return r.GitCommits }),
	"git_prs_created": results.Float64("Number of pull requests opened.", func(r *client.ProductivityRow) *float64 { return r.GitPRsCreated }),
}

var extensionCount = results.Record[client.ExtensionCount]{
	"extension": results.StringPointer("File name extension.", func(e *client.ExtensionCount) *string { return e.Extension }),
	"count":     results.Float64("Number of files with this extension.", func(e *client.ExtensionCount) *float64 { return e.Count }),
}

var languageCount = results.Record[client.LanguageCount]{
	"language": results.StringPointer("Name of the language.", func(l *client.LanguageCount) *string { return l.Language }),
	"count":    results.Float64("Number of files in this language.", func(l *client.LanguageCount) *float64 { return l.Count }),
}
