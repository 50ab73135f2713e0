# The tests read the data sources.
rule "terraform_unused_declarations" {
  enabled = false
}
