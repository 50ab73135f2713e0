# A signed URL for uploading the video of a wiki. It is never stored.
ephemeral "agentyard_wiki_video_upload_url" "tour" {}

locals {
  upload = ephemeral.agentyard_wiki_video_upload_url.tour
}

# Use it in provider blocks, write-only arguments, and provisioners.
resource "terraform_data" "upload" {
  provisioner "local-exec" {
    command = "echo uploading the video"

    environment = {
      UPLOAD_URL    = local.upload.url
      UPLOAD_FIELDS = jsonencode(local.upload.fields)
    }
  }
}
