# The page says where to use the locals of heaviest.tf.
rule "terraform_unused_declarations" {
  enabled = false
}
