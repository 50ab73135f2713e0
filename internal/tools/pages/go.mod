module github.com/agentyard/terraform-provider-agentyard/internal/tools/pages

go 1.26.0

require (
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/yuin/goldmark v1.8.7
	go.abhg.dev/goldmark/frontmatter v0.2.0
)

require (
	github.com/BurntSushi/toml v1.2.1 // indirect
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
