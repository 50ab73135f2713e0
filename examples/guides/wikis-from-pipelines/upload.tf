locals {
  pages = {
    for name in fileset("${path.module}/wiki", "**/*.md") :
    name => file("${path.module}/wiki/${name}")
  }
}

resource "agentyard_wiki_run" "own" {
  repo_url = "https://code.example/robin/tools"

  pages = jsonencode([for path, content in local.pages : {
    path    = path
    title   = trimprefix(split("\n", content)[0], "# ")
    content = content
  }])
}
