# The wiki of the default branch, anew for each release. Without pages, the
# service should write them.
resource "agentyard_wiki_run" "api" {
  repo_url      = "https://code.example/acme/api"
  privacy_level = "organization"

  triggers = {
    release = "1.4.0"
  }

  lifecycle {
    create_before_destroy = true
  }
}

# Uploaded pages, which only their owner should see.
resource "agentyard_wiki_run" "web" {
  repo_url      = "https://code.example/acme/web"
  branch        = "main"
  commit_hash   = "8f2d1c7b5a904e3f6d8c2b1a7e5f4d3c2b1a0f9e"
  privacy_level = "private"

  has_local_changes      = false
  has_non_remote_commits = false

  pages = jsonencode([
    {
      path    = "index.md"
      title   = "Overview"
      content = "# Overview\n\nSee [Build](build/index.md)."
    },
    {
      path    = "build/index.md"
      title   = "Build"
      content = "# Build\n\nRun `make`."
    },
  ])

  page_tree = jsonencode([{
    path     = "index.md"
    title    = "Overview"
    children = [{ path = "build/index.md", title = "Build" }]
  }])
}
