-- Why an upload could not be processed, for whoever sent it; only while its state is failed.
ALTER TABLE media_attachments ADD COLUMN failure TEXT;
