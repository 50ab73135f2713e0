package analytics

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// ProductivityDataSource is the data source agentyard_analytics_productivity.
var ProductivityDataSource = ofOrganization("analytics_productivity", "Returns the files, commits, and pull requests of the organization for each day.", "", "analytics of productivity", productivityRow, "`date`", nil,
	func(c *analytics.Client) *analytics.Query[analytics.ProductivityRow] { return c.Productivity })

var productivityRow = results.Fields[*analytics.ProductivityRow]{
	"date":            dateOfRow(func(r *analytics.ProductivityRow) string { return r.Date }),
	"files_created":   results.Float64("Number of files created.", func(r *analytics.ProductivityRow) *float64 { return r.FilesCreated }),
	"files_edited":    results.Float64("Number of files edited.", func(r *analytics.ProductivityRow) *float64 { return r.FilesEdited }),
	"by_extension":    results.List("Counts by extension, ordered by `extension`.", extensionCount, func(r *analytics.ProductivityRow) []analytics.ExtensionCount { return r.ByExtension }),
	"by_language":     results.List("Counts by language, ordered by `language`.", languageCount, func(r *analytics.ProductivityRow) []analytics.LanguageCount { return r.ByLanguage }),
	"git_commits":     results.Float64("Number of Git commits.", func(r *analytics.ProductivityRow) *float64 { return r.GitCommits }),
	"git_prs_created": results.Float64("Number of pull requests opened.", func(r *analytics.ProductivityRow) *float64 { return r.GitPRsCreated }),
}

var extensionCount = results.Fields[*analytics.ExtensionCount]{
	"extension": results.StringPointer("File name extension.", func(e *analytics.ExtensionCount) *string { return e.Extension }),
	"count":     results.Float64("Count of this extension.", func(e *analytics.ExtensionCount) *float64 { return e.Count }),
}

var languageCount = results.Fields[*analytics.LanguageCount]{
	"language": results.StringPointer("Name of the language.", func(l *analytics.LanguageCount) *string { return l.Language }),
	"count":    results.Float64("Count of this language.", func(l *analytics.LanguageCount) *float64 { return l.Count }),
}
