package understudy.example;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.TreeMap;

/** An error of understudy, decoded from the google.rpc details of a status. */
record Failure(io.grpc.Status.Code code, String message, ErrorInfo info, BadRequest bad, RetryInfo retry) {

  /** What the exception of a call says. */
  static Failure of(StatusRuntimeException exception) {
    Status status = StatusProto.fromThrowable(exception);
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    BadRequest bad = BadRequest.getDefaultInstance();
    RetryInfo retry = null; // stays null where a retry repeats the answer
    try {
      for (Any detail : status.getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          info = detail.unpack(ErrorInfo.class);
        } else if (detail.is(BadRequest.class)) {
          bad = detail.unpack(BadRequest.class);
        } else if (detail.is(RetryInfo.class)) {
          retry = detail.unpack(RetryInfo.class);
        }
      }
    } catch (InvalidProtocolBufferException damaged) {
      throw new IllegalStateException("details that are not what they say", damaged);
    }
    return new Failure(exception.getStatus().getCode(), status.getMessage(), info, bad, retry);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    String reason = info.getReason().isEmpty() ? "-" : info.getReason();
    text.append("error ").append(code).append(' ').append(reason).append(": ").append(message);
    for (BadRequest.FieldViolation violation : bad.getFieldViolationsList()) {
      text.append("\n  ").append(violation.getField()).append(": ").append(violation.getDescription());
    }
    new TreeMap<>(info.getMetadataMap())
        .forEach((key, value) -> text.append("\n  ").append(key).append(" = ").append(value));
    if (retry != null) {
      text.append("\n  retry after ").append(Durations.toMillis(retry.getRetryDelay())).append(" ms");
    }
    return text.toString();
  }
}
